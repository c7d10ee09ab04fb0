//! The table of secrets that are known by what they are called: "the password is …", `api_key=…`, 密码改成了….
//!
//! Group 1 of a pattern is the value to look at again. Must not know: how matches are judged.

use super::checks::{
    always, named_secret, named_token, one_time_code, password, recovery_code, recovery_phrase, short_secret, spoken_password,
    totp_seed,
};
use super::rules::{Rule, rule};

/// Every rule; the first that holds names the kind.
pub(super) const NAMED: &[Rule] = &[
    // Passwords in commands.
    rule(
        "password",
        r#"(?i)(?-u:\b)(?:sshpass[ \t]+-p[ \t]*|(?:mysql|mysqldump|mariadb)[ \t][^\r\n]{0,80}?-p|redis-cli[ \t][^\r\n]{0,80}?-a[ \t]+|docker[ \t]+login[ \t][^\r\n]{0,80}?-p[ \t]+|(?:curl|wget)[ \t][^\r\n]{0,200}?-u[ \t]*["']?[^ \t:"'\r\n]{1,64}:)["']?([^ \t\r\n"']{4,})"#,
        password,
    ),
    rule("password", r"(?i)(?-u:\b)machine[ \t]+[^ ]+[ \t]+login[ \t]+[^ ]+[ \t]+password[ \t]+([^ \t\r\n]{4,})", password),
    // Passwords, called so.
    rule(
        "password",
        r#"(?i)(?:password|passwd|passphrase|passcode|(?-u:\b|_)pwd|(?-u:\b)pin(?: code| number)?)["'`]?(?:[ \t]+(?:for|to|of|on|at)[ \t]+[^ \t\r\n:=]{1,24}(?:[ \t]+[^ \t\r\n:=]{1,24}){0,4}?)?[ \t]*(?:(?:has been|was|is|got)?[ \t]*(?:now|set to|changed to|reset to|updated to)|is|was|to|[:=：])[ \t]*[:=：]?[ \t]*["'`“]?([^ \t\r\n"'`”“，。；、]{4,128})"#,
        password,
    ),
    rule(
        "password",
        r#"(?i)(?-u:\b)(?:pass|pw|psw|pword|pass ?word)["'`]?[ \t]*[:=：][ \t]*["'`“]?([^ \t\r\n"'`”“，。；、]{4,128})"#,
        spoken_password,
    ),
    rule(
        "password",
        r#"(?i)(?-u:\b)(?:password|passwd|passphrase|passcode|pwd|pw)s?["'`]?[ \t]+["'`“(]?([^ \t\r\n"'`”“，。；、)]{6,128})"#,
        spoken_password,
    ),
    rule(
        "password",
        r#"(?i)(?:^|[ \t"'`“(])([^ \t\r\n"'`“”()]{6,64})["'`”]?[ \t]+(?:is|as|was|=)[ \t]+(?:my|the|our|his|her|your)[ \t]+(?:[a-z0-9-]+[ \t]+){0,3}(?:password|passcode|passphrase|pwd)(?-u:\b)"#,
        spoken_password,
    ),
    rule(
        "password",
        r#"(?i)(?-u:\b)(?:login|log in|credentials?|creds?|logins?)(?:[ \t]+(?:for|to|of)[ \t][^\r\n:=]{1,40}?)?[ \t]*(?:is|are|with|[:=：])[ \t]*["'`]?[A-Za-z0-9_.@+-]{2,64}["'`]?[ \t]*(?:/|\||,|and|:)[ \t]*["'`]?([^ \t\r\n"'`]{6,64})"#,
        spoken_password,
    ),
    rule(
        "password",
        r#"(?:密码|密碼|口令|暗号|PIN码|登录密钥|pin码|密钥口令)(?:[ \t是为為改成设置換换叫用了的就还還现在已经变更新初始默认临时統统一都咱我你他记得一下告诉给发也：:=“「"'`（(，,]){0,30}([!-~]{4,128})"#,
        password,
    ),
    rule("password", r"用[ “「]?([!-~]{6,64})[ ”」]?(?:来)?(?:做|当|作为|作|当作)[^，。\r\n]{0,12}密码", spoken_password),
    rule(
        "password",
        r"([!-~]{6,64})[ ”」]?(?:就)?是(?:我|他|她|你|咱|家|里|的|公司|[Ww]i-?[Ff]i|WIFI|路由器|电脑|手机|邮箱|后台|管理员|数据库|服务器|登录|新|开机|银行卡|微信){1,8}密码",
        spoken_password,
    ),
    rule(
        "password",
        r"(?:账号密码|用户名密码|账密|登录信息|账户密码)[是为：: ]{0,3}[A-Za-z0-9_.@+-]{2,64}[ ]?[/|，, ][ ]?([!-~]{6,64})",
        spoken_password,
    ),
    // Keys and tokens, called so.
    rule(
        "secret",
        r#"(?i)(?:api[_ -]?(?:key|token|secret)|apikey|secret[_ -]?(?:access[_ -]?)?key|(?-u:\b|_)secret|access[_ -]?(?:key|token)|auth[_ -]?token|client[_ -]?secret|private[_ -]?key|refresh[_ -]?token|bot[_ -]?token|signing[_ -]?key|encryption[_ -]?key)s?["'`]?[ \t]*(?:is|was|=>|to|[:=：])[ \t]*["'`“]?([A-Za-z0-9_+/=.~-]{12,512})"#,
        named_secret,
    ),
    rule(
        "secret",
        r#"(?i)(?:api[_ -]?(?:key|token|secret)|apikey|secret[_ -]?(?:access[_ -]?)?key|app[_ -]?(?:secret|key)|access[_ -]?(?:key|token)|auth[_ -]?token|client[_ -]?secret|private[_ -]?key|refresh[_ -]?token|session[_ -]?token|bot[_ -]?token|signing[_ -]?key|encryption[_ -]?key|master[_ -]?key|license[_ -]?key|(?-u:\b|_)secret)["'`]?[ \t]*(?:is|was|=>|是|为|[:=：])[ \t]*["'`“]?([A-Za-z0-9_+/=.~!@#$%^&*-]{6,128})"#,
        short_secret,
    ),
    rule(
        "secret",
        r#"(?:密钥|秘钥|密鑰|令牌|私钥|访问密钥|授权码|激活码|凭证)(?:[ 是为為改成了换设：:=“「"'`]){1,10}([A-Za-z0-9_+/=.~-]{6,512})"#,
        short_secret,
    ),
    rule(
        "secret",
        r#"(?i)(?-u:\b|_)(?:key|token|credential)s?["'`]?[ \t]*(?:is|=>|是|[:=：])[ \t]*["'`“]?([A-Za-z0-9_+/=.~-]{20,512})"#,
        named_token,
    ),
    rule("privateKey", r"(?i)private[_ -]?key[ \t:=：是]{1,4}((?:0x)?[0-9a-f]{64})(?-u:\b)", always),
    // Second factors and recovery.
    rule(
        "totpSeed",
        r"(?i)(?:totp|2fa|two[- ]factor|mfa|authenticator|otp)[ _-]?(?:secret|seed|key|setup key|密钥|种子)?[ \t]*(?:is|是|为|[:=：])?[ \t]*((?:[A-Z2-7]{4}[ -]?){4,16})(?-u:\b)",
        totp_seed,
    ),
    rule(
        "oneTimeCode",
        r"(?i)(?:验证码|校验码|动态码|动态密码|短信码|(?-u:\b)otp|one[- ]time (?:code|pin|passcode|password)|verification code|2fa code|security code|login code|confirmation code)[^0-9A-Za-z\r\n]{0,6}(?:是|为|is|was|code)?[^0-9A-Za-z\r\n]{0,4}([0-9]{4,8}|[0-9]{3}[- ][0-9]{3})(?-u:\b)",
        one_time_code,
    ),
    rule(
        "recoveryCode",
        r"(?i)(?:recovery|backup|scratch|emergency)[ -]codes?[^0-9A-Za-z\r\n]{0,4}(?:is|are|for [a-z]{2,20}(?: are| is)?)?[ \t:：]*([A-Za-z0-9]{4,10}(?:[- ][A-Za-z0-9]{4,10}){1,4})",
        recovery_code,
    ),
    rule(
        "recoveryPhrase",
        r"(?i)(?:(?:seed|recovery|secret|backup|wallet|mnemonic)[ -](?:phrase|words)|mnemonic|助记词|恢复词|种子词)[^a-z\r\n]{0,12}(?:(?:is|are|for my wallet is)[^a-z\r\n]{1,4})?((?:[a-z]{3,8}[ ,、]{1,2}){11,23}[a-z]{3,8})",
        recovery_phrase,
    ),
    rule("cardCode", r"(?i)(?:atm|card|取款|支付|银行卡|信用卡)[ ]?(?:pin|密码)[^0-9\r\n]{0,8}([0-9]{4,6})(?-u:\b)", always),
];
