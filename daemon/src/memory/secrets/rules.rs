//! The table of secrets that are known by their own shape. Those known by what they are called are in `named`.
//!
//! Group 1 of a pattern is the value to look at again, else the whole match is. Only ASCII word boundaries, so that
//! text in Chinese beside a value does not matter and the automaton stays fast. Must not know: how matches are judged.

use super::checks::{
    always, card, chinese_id, credential, hong_kong_id, iban, named_secret, not_in_word, sk_token, social_security, token,
    url_password,
};
use super::values::Value;

/// One shape of a secret.
pub(super) struct Rule {
    /// What it is, on the wire behind `secret:`.
    pub kind: &'static str,
    /// What it looks like.
    pub pattern: &'static str,
    /// The second look.
    pub check: fn(&Value<'_>) -> bool,
}

pub(super) const fn rule(kind: &'static str, pattern: &'static str, check: fn(&Value<'_>) -> bool) -> Rule {
    Rule { kind, pattern, check }
}

/// Shapes that give themselves away; the first that holds names the kind.
pub(super) const SHAPES: &[Rule] = &[
    // Key material.
    rule("privateKey", r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----", always),
    rule("privateKey", r"PuTTY-User-Key-File-[0-9]|AGE-SECRET-KEY-1[0-9A-Z]{20}", always),
    rule("jwt", r"(?-u:\b)(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{5,})", always),
    rule("passwordHash", r"\$(?:1|2[aby]|5|6|y|argon2i?d?)\$[./A-Za-z0-9$=,+]{20}", always),
    // Providers.
    rule("awsKey", r"(?-u:\b)((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})(?-u:\b)", token),
    rule("googleKey", r"(?-u:\b)(AIza[0-9A-Za-z_-]{35})", token),
    rule("googleKey", r"(?-u:\b)(ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})", token),
    rule("githubToken", r"(?-u:\b)(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})", token),
    rule("gitlabToken", r"(?-u:\b)(gl(?:pat|dt|rt|ft|oas|cbt|ptt|imt|soat|agent)-[A-Za-z0-9_=-]{18,})", token),
    rule("slackToken", r"(?-u:\b)(xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})", token),
    rule("slackToken", r"hooks\.slack\.com/services/(T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{16,})", token),
    rule("webhook", r"discord(?:app)?\.com/api/webhooks/([0-9]+/[A-Za-z0-9_-]{30,})", token),
    rule("stripeKey", r"(?-u:\b)((?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{20,})", token),
    rule("anthropicKey", r"(?-u:\b)(sk-ant-[A-Za-z0-9_-]{16,})", sk_token),
    rule("apiKey", r"(?-u:\b)(sk-[A-Za-z0-9_-]{12,})", sk_token),
    rule("npmToken", r"(?-u:\b)(npm_[A-Za-z0-9]{30,})", token),
    rule("pypiToken", r"(?-u:\b)(pypi-[A-Za-z0-9_-]{40,})", token),
    rule("telegramToken", r"(?-u:\b)([0-9]{8,10}:[A-Za-z0-9_-]{35})(?-u:\b)", token),
    rule("sendgridKey", r"(?-u:\b)(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})", token),
    rule("twilioKey", r"(?-u:\b)(SK[0-9a-f]{32})(?-u:\b)", token),
    rule("huggingfaceToken", r"(?-u:\b)(hf_[A-Za-z0-9]{30,})", token),
    rule("digitaloceanToken", r"(?-u:\b)(do[opr]_v1_[a-f0-9]{40,})", token),
    rule("shopifyToken", r"(?-u:\b)(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})", token),
    rule("dockerToken", r"(?-u:\b)(dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,})", token),
    rule("apiKey", r"(?-u:\b)((?:gsk|xai|pplx|r8|fw|lin_api|sntrys|rubygems|ntn|phc|phx|figd|tfp)[_-][A-Za-z0-9]{32,})", token),
    rule(
        "apiKey",
        r"(?-u:\b)(ATATT3[A-Za-z0-9_=-]{40,}|NRAK-[A-Z0-9]{27}|PMAK-[a-f0-9-]{50,}|glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|dapi[a-f0-9]{32})",
        token,
    ),
    rule("vaultToken", r"(?-u:\b)(hv[sbr]\.[A-Za-z0-9_-]{20,})", token),
    rule("azureKey", r"(?i)(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})", token),
    rule("aliyunKey", r"(?-u:\b)(LTAI[A-Za-z0-9]{12,26})(?-u:\b)", token),
    rule("tencentKey", r"(?-u:\b)(AKID[A-Za-z0-9]{28,36})(?-u:\b)", token),
    rule("googleKey", r"(?-u:\b)(1//0[0-9A-Za-z_-]{30,})", token),
    rule("azureKey", r"(?-u:\b)([A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34})", token),
    rule("squareKey", r"(?-u:\b)(sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,})", token),
    rule("facebookToken", r"(?-u:\b)(EAA[A-Za-z][A-Za-z0-9]{80,})", token),
    rule("twitterToken", r"(?-u:\b)(A{18,}[A-Za-z0-9%]{40,})", always),
    rule("notionToken", r"(?-u:\b)(secret_[A-Za-z0-9]{40,}|ntn_[A-Za-z0-9]{40,})", token),
    rule("discordToken", r"(?-u:\b)([MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38})", token),
    rule("mailgunKey", r"(?-u:\b)(key-[0-9a-z]{32})(?-u:\b)", token),
    rule("mailchimpKey", r"(?-u:\b)([0-9a-f]{32}-us[0-9]{1,2})(?-u:\b)", token),
    rule(
        "apiKey",
        r"(?-u:\b)(nfp_[A-Za-z0-9]{36,}|sb[ps]_[a-z0-9]{40}|sb_(?:secret|publishable)_[A-Za-z0-9_-]{20,}|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}|dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9]{40,}|glc_[A-Za-z0-9+/=]{32,}|dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}|CCIPAT_[A-Za-z0-9_]{30,}|rnd_[A-Za-z0-9]{28,}|tskey-[a-z]+-[A-Za-z0-9-]{16,}|sl\.[A-Za-z0-9_-]{100,})",
        token,
    ),
    rule("apiKey", r"(?-u:\b)([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,})", token),
    rule("apiKey", r"(?-u:\b)([0-9a-f]{32}\.[A-Za-z0-9]{16})(?-u:\b)", token),
    rule("baiduKey", r"(bce-v3/ALTAK-[A-Za-z0-9]{16,}/[0-9a-f]{32,})", token),
    rule("volcengineKey", r"(?-u:\b)(AKLT[A-Za-z0-9]{30,})", token),
    rule("walletKey", r"(?-u:\b)([5KL][1-9A-HJ-NP-Za-km-z]{50,51}|[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,})(?-u:\b)", token),
    // Addresses that are keys themselves.
    rule("webhook", r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=([0-9A-Za-z-]{20,})", token),
    rule("webhook", r"oapi\.dingtalk\.com/robot/send\?access_token=([0-9A-Za-z]{32,})", token),
    rule("webhook", r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/([0-9A-Za-z-]{20,})", token),
    rule("webhook", r"[a-z0-9-]+\.webhook\.office\.com/webhookb2/([0-9A-Za-z@/-]{40,})", token),
    rule("webhook", r"hooks\.zapier\.com/hooks/catch/([0-9]+/[A-Za-z0-9]{6,})", always),
    rule("webhook", r"maker\.ifttt\.com/trigger/[^ /]+/(?:json/)?with/key/([A-Za-z0-9_-]{20,})", token),
    rule("telegramToken", r"api\.telegram\.org/bot([0-9]{8,10}:[A-Za-z0-9_-]{35})", token),
    // Second factors and recovery.
    rule("totpSeed", r"(?i)otpauth://[^ ]*[?&]secret=([A-Z2-7]{16,})", always),
    // Credentials in protocols.
    rule(
        "authorization",
        r#"(?i)authorization["']?[ \t]*[:=][ \t]*["']?(?:bearer|basic|token|apikey|digest)[ \t]+([A-Za-z0-9._~+/=-]{8,})"#,
        credential,
    ),
    rule("authorization", r"(?i)(?-u:\b)(?:bearer|basic)[ \t]+([A-Za-z0-9._~+/=-]{16,})", credential),
    rule(
        "authorization",
        r#"(?i)x-(?:api-key|auth-token|access-token|amz-security-token)["']?[ \t]*[:=][ \t]*["']?([^ \t\r\n"']{8,})"#,
        credential,
    ),
    rule(
        "cookie",
        r#"(?i)cookie["']?[ \t]*[:=][ \t]*[^\r\n]{0,80}?(?:sess|sid|token|auth|jwt|connect)[a-z_.-]*=([^; \t\r\n"']{16,})"#,
        credential,
    ),
    rule(
        "urlPassword",
        r"(?i)(?-u:\b)[a-z][a-z0-9+.-]{1,20}://[^ \t\r\n/:@]{0,64}:([^ \t\r\n/@]{1,128})@[a-z0-9\[]",
        url_password,
    ),
    rule(
        "urlToken",
        r"(?i)[?&](?:access_token|auth_token|api_key|apikey|client_secret|x-amz-signature|sig|token)=([A-Za-z0-9%._~+/-]{16,})",
        named_secret,
    ),
    // Numbers of persons and of money.
    rule("cardNumber", r"(?-u:\b)([0-9](?:[ -]?[0-9]){12,18})(?-u:\b)", card),
    rule(
        "cardCode",
        r"(?i)(?-u:\b)(?:cvv2?|cvc2?|安全码)[ \t]*(?:is|code|number|是|为|[:=：])*[ \t]*([0-9]{3,4})(?-u:\b)",
        not_in_word,
    ),
    rule(
        "identityNumber",
        r"([1-9][0-9]{5}(?:18|19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9Xx])(?-u:\b)",
        chinese_id,
    ),
    rule(
        "identityNumber",
        r"(?i)(?-u:\b)(?:ssn|social security(?: number)?|national insurance(?: number)?)[^0-9a-z\r\n]{0,12}(?:is|no\.?|number|[:#])?[^0-9a-z\r\n]{0,4}([0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}|[A-Z]{2}[ ]?[0-9]{2}[ ]?[0-9]{2}[ ]?[0-9]{2}[ ]?[A-D])(?-u:\b)",
        always,
    ),
    rule(
        "identityNumber",
        r"(?i)(?:(?-u:\b)passport(?: number| no\.?)?|护照号码?|护照)[ \t]*(?:is|是|为|[:：#])?[ \t]*([A-Z]{1,2}[0-9]{7,8})(?-u:\b)",
        always,
    ),
    rule("identityNumber", r"(?-u:\b)([0-9]{3}-[0-9]{2}-[0-9]{4})(?-u:\b)", social_security),
    rule("identityNumber", r"(?-u:\b)([A-Z]{1,2}[0-9]{6}\([0-9A]\))", hong_kong_id),
    rule(
        "identityNumber",
        r"(?i)(?:aadhaar|aadhar)(?: card)?(?: number| no\.?)?[ \t]*(?:is|[:#])?[ \t]*([0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4})(?-u:\b)",
        always,
    ),
    rule(
        "identityNumber",
        r"(?i)(?:身份证|身分證|证件|national id|id card)[^0-9A-Za-z\r\n]{0,8}(?:number|no\.?|is)?[^0-9A-Za-z\r\n]{0,4}([A-Z][0-9]{8,9}|[0-9]{15}|[0-9]{17}[0-9Xx])(?-u:\b)",
        always,
    ),
    rule(
        "bankAccount",
        r"(?i)(?:bank account|routing number|sort code and account|银行账号|银行账户|银行卡号?|收款账号|卡号|开户账号)(?: number| no\.?)?[^0-9A-Za-z\r\n]{0,8}(?:is|are)?[^0-9A-Za-z\r\n]{0,4}([0-9](?:[ -]?[0-9]){7,18})(?-u:\b)",
        always,
    ),
    rule("iban", r"(?-u:\b)([A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)(?-u:\b)", iban),
];
