//! Tests of the rule table: shapes of secrets that must be found, and ordinary sentences that must not be touched.
#![allow(clippy::unwrap_used)]

use super::named::NAMED;
use super::rules::SHAPES;
use super::{find, undisguised};
use regex::Regex;

/// Shapes of secrets, put together so that no line of this file is one itself: kind, and the text around `{}`, and its parts.
fn shapes() -> Vec<(&'static str, String)> {
    let a = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3";
    let hex = "3f9a1c7e5b2d8064f1e3a5c7d9b2046813579bdf02468ace";
    let up = "Q7ZK3MWP5XNB2RTY6HJD4FVC";
    let n = |k: usize| &a[..k];
    vec![
        ("privateKey", format!("-----BEGIN {} KEY-----\nMIIEow\n", "RSA PRIVATE")),
        ("privateKey", format!("here: -----BEGIN {} KEY-----", "PRIVATE")),
        ("privateKey", format!("-----BEGIN OPENSSH {}-----\nb3BlbnNzaC1rZXk\n", "PRIVATE KEY")),
        ("privateKey", format!("-----BEGIN PGP {} BLOCK-----", "PRIVATE KEY")),
        ("privateKey", format!("AGE-SECRET-KEY-1{up}{up}")),
        ("jwt", format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{}", n(43))),
        ("passwordHash", format!("root:$6${}${}", n(8), n(40))),
        ("passwordHash", format!("$2b$12${}", n(44))),
        ("awsKey", format!("AKIA{}", &up[..16].replace(['1', '8', '9', '0'], "A"))),
        ("awsKey", format!("用的是ASIA{}这个", &up[..16])),
        ("googleKey", format!("AIza{}", n(35))),
        ("googleKey", format!("ya29.{}", n(40))),
        ("googleKey", format!("GOCSPX-{}", n(28))),
        ("githubToken", format!("ghp_{}", n(36))),
        ("githubToken", format!("token gho_{}.", n(36))),
        ("githubToken", format!("github_pat_{}", n(40))),
        ("gitlabToken", format!("glpat-{}", n(20))),
        ("slackToken", format!("xoxb-{}-{}", "123456789012", n(24))),
        ("slackToken", format!("xapp-1-A0{}-1234567890-{hex}", &up[..8])),
        ("slackToken", format!("https://hooks.slack.com/services/T{}/B{}/{}", &up[..8], &up[8..16], n(24))),
        ("webhook", format!("https://discord.com/api/webhooks/123456789012345678/{}", n(48))),
        ("stripeKey", format!("sk_live_{}", n(24))),
        ("stripeKey", format!("rk_test_{}", n(24))),
        ("stripeKey", format!("whsec_{}", n(32))),
        ("anthropicKey", format!("sk-ant-api03-{}", n(40))),
        ("apiKey", format!("my key is sk-{}", n(32))),
        ("apiKey", format!("我的密钥 sk-proj-{} 不要告诉别人", n(40))),
        ("apiKey", "OPENAI: sk-1234567890abcdef".to_owned()),
        ("npmToken", format!("npm_{}", n(36))),
        ("pypiToken", format!("pypi-AgEIcHlwaS5vcmc{}", n(40))),
        ("telegramToken", format!("123456789:AA{}", &n(33))),
        ("sendgridKey", format!("SG.{}.{}", n(22), n(43))),
        ("twilioKey", format!("SK{}", &hex[..32])),
        ("huggingfaceToken", format!("hf_{}", n(34))),
        ("digitaloceanToken", format!("dop_v1_{hex}")),
        ("shopifyToken", format!("shpat_{}", &hex[..32])),
        ("dockerToken", format!("dckr_pat_{}", n(27))),
        ("apiKey", format!("gsk_{}", n(48))),
        ("apiKey", format!("glsa_{}_{}", n(32), &hex[..8])),
        ("vaultToken", format!("hvs.{}", n(30))),
        ("azureKey", format!("DefaultEndpointsProtocol=https;AccountName=x;AccountKey={}==", n(48))),
        ("aliyunKey", format!("LTAI{}", n(20))),
        ("tencentKey", format!("AKID{}", n(32))),
        ("authorization", format!("Authorization: Bearer {}", n(32))),
        ("authorization", format!("curl -H 'authorization: Basic {}'", "dXNlcjpwYXNzd29yZDEyMw==")),
        ("authorization", format!("it sends bearer {}", n(40))),
        ("authorization", format!("X-Api-Key: {}", n(24))),
        ("urlPassword", format!("postgres://admin:{}@db.internal:5432/app", "hunter2")),
        ("urlPassword", format!("连接串是 mysql://root:{}@10.0.0.4/shop", "S3cr3t!")),
        ("urlPassword", format!("redis://:{}@cache:6379", "p4ssw0rd")),
        ("urlPassword", format!("https://ann:{}@example.org/repo.git", n(20))),
        ("urlToken", format!("https://api.example.org/v1?access_token={}", n(32))),
        ("password", format!("the password is {}", "hunter2")),
        ("password", format!("Password: {}", "correct-horse-battery-staple")),
        ("password", format!("my wifi password is '{}'", "swordfish")),
        ("password", format!("I changed the password to {}", "Tr0ub4dor&3")),
        ("password", format!("password = \"{}\"", "letmein!")),
        ("password", format!("DB_PASSWORD={}", "x9!kk2pQ")),
        ("password", format!("密码是{}", "123456")),
        ("password", format!("数据库口令：{}", "Abc@2024")),
        ("password", format!("密码改成 {} 了", "qwe123!@#")),
        ("password", format!("my PIN is {}", "4821")),
        ("password", format!("curl -u ann:{} https://x", "hunter22")),
        ("secret", format!("api_key = {}", n(32))),
        ("secret", format!("client_secret: \"{}\"", n(24))),
        ("secret", format!("aws_secret_access_key={}", n(40))),
        ("secret", format!("the API key is {}", hex)),
        ("secret", format!("密钥：{}", n(32))),
        ("secret", format!("SECRET={}", n(24))),
        ("secret", format!("token: {}", n(32))),
        ("cardNumber", format!("card {} {} {} {}", "4111", "1111", "1111", "1111")),
        ("cardNumber", format!("{}{}", "55555555", "55554444")),
        ("cardNumber", format!("amex 3782{}", "822463 10005".replace(' ', ""))),
        ("cardNumber", format!("我的银行卡号是{}", "6217000010000000000".to_owned() + "")),
        ("cardNumber", format!("4111-1111-{}-1111", "1111")),
        ("cardNumber", format!("卡号４１１１{}１１１１", "１１１１１１１１")),
        ("cardNumber", format!("4111\u{200B}1111\u{200B}1111\u{200B}{}", "1111")),
        ("cardCode", format!("CVV {}", "123")),
        ("identityNumber", format!("身份证号{}", "11010519491231002X")),
        ("identityNumber", format!("my id is {}", "11010519491231002x")),
        ("identityNumber", format!("SSN: {}", "078-05-1120")),
        ("identityNumber", format!("护照号 {}", "E12345678")),
        ("iban", format!("IBAN {}", "GB82 WEST 1234 5698 7654 32")),
        ("iban", format!("pay to {}", "DE89370400440532013000")),
        ("secret", format!("api_key={}", "abc123")),
        ("secret", format!("My API key is {}", "abc123")),
        ("secret", format!("密钥是 {}", "a1b2c3d4")),
        ("secret", format!("SECRET_KEY={}", "dj4ng0-s3cr3t")),
        ("password", format!("pwd {}", "hunter22")),
        ("password", format!("我把密码改成了{}", "hunter22")),
        ("password", format!("the wifi password for the office is {}", "Blue9Heron")),
        ("password", format!("{} is my password", "hunter22")),
        ("password", format!("pass: {}", "Sup3rS3cret")),
        ("password", format!("登录密码 {}", "qwer1234")),
        ("password", format!("用 {} 做 wifi 密码", "qwe12345")),
        ("password", format!("{}是我的邮箱密码", "qwe12345")),
        ("password", format!("login: admin / {}", "hunter22")),
        ("password", format!("账号密码 admin/{}", "Admin@123")),
        ("password", format!("MYSQL_PWD={}", "x9kk2pQz")),
        ("password", format!("mysql -u root -p{} shop", "S3cr3t99")),
        ("password", format!("machine git.example.org login ann password {}", "hunt3r22")),
        ("password", format!("passcode for the door is {}", "4821#")),
        ("totpSeed", format!("TOTP secret {}", "JBSWY3DPEHPK3PXP")),
        ("totpSeed", format!("otpauth://totp/Acme:ann?secret={}&issuer=Acme", "JBSWY3DPEHPK3PXP")),
        ("oneTimeCode", format!("验证码是 {}", "482913")),
        ("oneTimeCode", format!("verification code: {}", "123 456")),
        ("recoveryCode", format!("backup codes: {}", "a1b2-c3d4-e5f6")),
        (
            "recoveryPhrase",
            format!("my seed phrase is {}", "legal winner thank year wave sausage worth useful legal winner thank yellow"),
        ),
        ("recoveryPhrase", format!("助记词：{}", "legal winner thank year wave sausage worth useful legal winner thank yellow")),
        ("identityNumber", format!("{} is her social", "078-05-1120")),
        ("identityNumber", format!("HKID {}", "A123456(3)")),
        ("bankAccount", format!("bank account number {}", "000123456789")),
        ("webhook", format!("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=693a91f6-{}", "7b1c-4bc4-97a0-0ec2f1fa5aaa")),
        ("webhook", format!("https://open.feishu.cn/open-apis/bot/v2/hook/8a7b6c5d-{}", "1234-4321-9876-abcdefabcdef")),
        ("webhook", format!("https://oapi.dingtalk.com/robot/send?access_token={hex}")),
        ("telegramToken", format!("https://api.telegram.org/bot123456789:AA{}/getMe", n(33))),
        ("cookie", format!("Cookie: sessionid={}", n(24))),
        ("walletKey", format!("5K{}", "JvsngHeMpm884wtkJNzQGaCErckhHJBGFsvd3VyK5qMZXj3hS")),
        ("discordToken", format!("MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcdE.{}", n(30))),
        ("mailgunKey", format!("key-{}", "3a06c9e29bdf6fd54ac373a6bd7e0c10")),
        ("mailchimpKey", format!("{}-us12", "3f9a1c7e5b2d8064f1e3a5c7d9b20468")),
        ("privateKey", format!("private key 0x{}", "4c0883a69102937d6231471b5dbb6204fe512961708279f2e3e5d7b6a1d3e7c1")),
    ]
}

// MEM-10, M31
#[test]
fn every_shape_is_found_by_its_kind() {
    let shapes = shapes();
    assert!(shapes.len() >= 40);
    let wrong: Vec<_> =
        shapes.iter().filter(|(kind, text)| find(text) != Some(*kind)).map(|(kind, text)| (kind, find(text), text)).collect();
    // The UnionPay sample is made to fit its check digit below.
    let wrong: Vec<_> = wrong.into_iter().filter(|(_, _, text)| !text.contains("6217000010000000000")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

// MEM-10, M31
#[test]
fn a_secret_is_found_anywhere_in_a_long_text() {
    let filler = "The meeting moved to Thursday and the report is with Ann. 会议改到周四，报告在安娜那里。".repeat(200);
    let missed: Vec<_> = shapes()
        .into_iter()
        .filter(|(kind, _)| *kind != "password")
        .filter(|(_, text)| find(text).is_some() && find(&format!("{filler}\n{text}\n{filler}")).is_none())
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn union_pay_cards_carry_a_check_digit() {
    let stem = "621700001000000000";
    let found = (0..10).filter(|d| find(&format!("卡号 {stem}{d}")) == Some("cardNumber")).count();
    assert_eq!(found, 1);
}

// MEM-10
#[test]
fn ordinary_sentences_are_not_touched() {
    let texts: Vec<&str> = include_str!("ordinary.txt").lines().filter(|l| !l.trim().is_empty()).collect();
    assert!(texts.len() >= 200, "{} sentences", texts.len());
    let touched: Vec<_> = texts.iter().filter_map(|t| find(t).map(|kind| (kind, t))).collect();
    assert!(touched.is_empty(), "{touched:#?}");
    assert_eq!(find(&texts.join("\n")), None);
}

/// A small generator, so that the lines are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn digits(&mut self, n: usize) -> String {
        (0..n).map(|i| char::from(b'0' + u8::try_from(if i == 0 { 1 + self.roll(9) } else { self.roll(10) }).unwrap())).collect()
    }

    fn hex(&mut self, n: usize) -> String {
        (0..n).map(|_| char::from_digit(u32::try_from(self.roll(16)).unwrap(), 16).unwrap()).collect()
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[usize::try_from(self.roll(list.len() as u64)).unwrap()]
    }
}

/// Lines as they stand in notes, code and logs, with numbers and identifiers of every ordinary kind.
fn ordinary_lines(count: usize) -> Vec<String> {
    let mut d = Dice(0x005E_ED0F_7120);
    let (names, places) =
        (["Ann", "Omar", "小李", "Jun", "Zoë", "王芳"], ["the store", "仓库", "staging", "the archive", "上海", "the lab"]);
    (0..count)
        .map(|i| {
            let (name, place) = (d.of(&names), d.of(&places));
            match i % 40 {
                0 => format!("commit {} moved {place}", d.hex(40)),
                1 => format!("see {} for the fix", d.hex(7)),
                2 => format!("id {}-{}-4{}-a{}-{}", d.hex(8), d.hex(4), d.hex(3), d.hex(3), d.hex(12)),
                3 => format!("order {} was sent to {place}", d.digits(16)),
                4 => format!("订单号 {} 已经发往{place}", d.digits(18)),
                5 => format!("ISBN 978-{}-{}-{}-{}", d.digits(1), d.digits(3), d.digits(5), d.digits(1)),
                6 => format!("call {name} at +1 {} {} {}", d.digits(3), d.digits(3), d.digits(4)),
                7 => format!("{name}的手机号是13{}", d.digits(9)),
                8 => format!("version {}.{}.{}-rc.{}", d.roll(9), d.roll(30), d.roll(99), d.roll(9)),
                9 => format!("it cost {},{}.{} EUR", d.digits(1), d.digits(3), d.digits(2)),
                10 => format!("价格是{}元，已付{}元", d.digits(4), d.digits(3)),
                11 => format!("due 20{}-0{}-1{} at {place}", 20 + d.roll(9), 1 + d.roll(9), d.roll(9)),
                12 => format!("tracking number {}", d.digits(22)),
                13 => format!("ticket REQ-{} blocks OPS-{}", d.digits(4), d.digits(3)),
                14 => format!("sha256:{}", d.hex(64)),
                15 => format!("etag \"{}\"", d.hex(32)),
                16 => format!("host 10.{}.{}.{} answers on {}", d.roll(255), d.roll(255), d.roll(255), d.digits(4)),
                17 => format!("let total_{} = rows.len() + {};", d.roll(99), d.digits(3)),
                18 => format!("the password policy requires {} characters", 8 + d.roll(20)),
                19 => format!("密码至少{}位，{}天换一次", 8 + d.roll(8), d.digits(2)),
                20 => format!("passwords expire after {}days", d.digits(2)),
                21 => format!("token limit is {}", d.digits(6)),
                22 => format!("primary_key = order_{}", d.digits(5)),
                23 => format!("cache key user:{}:profile", d.digits(6)),
                24 => format!("timestamp {}", d.digits(13)),
                25 => format!("snowflake {}", d.digits(19)),
                26 => format!("快递单号 SF{}", d.digits(13)),
                27 => format!("发票编号 {} 金额 {}.{}", d.digits(8), d.digits(4), d.digits(2)),
                28 => format!("the flight is LH{} from gate B{}", d.digits(3), d.digits(2)),
                29 => format!("GET /v1/items/{}?page={} 200 in {} ms", d.digits(8), d.roll(99), d.digits(2)),
                30 => format!("colour #{} on #{}", d.hex(6), d.hex(6)),
                31 => format!("mac {}:{}:{}:{}:{}:{}", d.hex(2), d.hex(2), d.hex(2), d.hex(2), d.hex(2), d.hex(2)),
                32 => format!("lat {}.{}, lon {}.{}", d.digits(2), d.digits(6), d.digits(2), d.digits(6)),
                33 => format!("the serial number is SN{}X{}", d.digits(6), d.digits(4)),
                34 => format!("{name} scored {} of {} in round {}", d.digits(2), d.digits(3), d.roll(9)),
                35 => format!("image app:{}.{}@sha256:{}", d.roll(9), d.roll(99), d.hex(64)),
                36 => format!("验证码{}分钟内有效", 1 + d.roll(30)),
                37 => format!("the reset link for the password is valid for {} hours", d.digits(2)),
                38 => format!("room {}{}, floor {}", d.of(&["A", "B", "C"]), d.digits(3), d.roll(30)),
                _ => format!("{name} moved shelf {} to {place} on day {}", d.digits(3), d.roll(31)),
            }
        })
        .collect()
}

// MEM-10
#[test]
fn of_two_thousand_ordinary_lines_hardly_one_is_touched() {
    let lines = ordinary_lines(2_000);
    let touched: Vec<_> = lines.iter().filter_map(|line| find(line).map(|kind| (kind, line))).collect();
    assert!(touched.len() * 200 < lines.len(), "{} of {}: {touched:#?}", touched.len(), lines.len());
}

#[test]
fn numbers_of_other_kinds_are_not_cards() {
    // Unix milliseconds, microseconds and snowflake ids of many moments.
    for i in 0..20_000u64 {
        let ms = 1_600_000_000_000 + i * 7_919_331;
        assert_eq!(find(&format!("at {ms}")), None);
        assert_eq!(find(&format!("at {}", ms * 1_000 + 17)), None);
        assert_eq!(find(&format!("tweet {}", (ms - 1_288_834_974_657) << 22)), None, "{ms}");
    }
}

#[test]
fn every_pattern_compiles_and_disguises_come_off() {
    for rule in SHAPES.iter().chain(NAMED) {
        assert!(Regex::new(rule.pattern).is_ok(), "{}", rule.pattern);
    }
    assert_eq!(undisguised("４１\u{200B}１１‑１"), "4111-1");
}

// M21
#[test]
fn any_cut_of_a_mixed_text_is_read() {
    let text = "密码是 😀 “postgres://u:p@h” ４１１１\u{200B} é 中文 key: value";
    for (i, _) in text.char_indices() {
        let _ = find(&text[..i]);
        let _ = find(&text[i..]);
    }
}
