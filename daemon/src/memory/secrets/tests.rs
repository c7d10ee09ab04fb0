//! Tests of the rule table: shapes of secrets that must be found, and ordinary sentences that must not be touched.
#![allow(clippy::unwrap_used)]

use super::rules::RULES;
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
    for rule in RULES {
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
