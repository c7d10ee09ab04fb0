//! Secrets that were refused are nowhere under the daemon's home: not in the store, the index, the log.

use serde_json::{Value, json};
use std::path::Path;
use tiro_tests::{Rpc, TestDaemon, check};

/// Secrets of many shapes with what must not be found of each. Put together here so that this file holds none.
fn planted() -> Vec<(String, String)> {
    let a = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3";
    let hex = "3f9a1c7e5b2d8064f1e3a5c7d9b2046813579bdf02468ace";
    let words = "legal winner thank year wave sausage worth useful legal winner thank yellow";
    let whole = |secret: String, around: &str| (around.replace("{}", &secret), secret);
    vec![
        whole(format!("sk-{a}"), "my key is {} please keep it"),
        whole(["4111", "1111", "1111", "1111"].join(" "), "the card is {} until May"),
        whole(["5555", "5555", "5555", "4444"].concat(), "刷的是这张卡 {}"),
        whole("11010519491231002X".to_owned(), "我的身份证号是{}。"),
        whole(format!("-----BEGIN RSA PRIVATE {}-----\nMIIEowIBAAKCAQEA{a}", "KEY"), "keep this:\n{}"),
        whole(format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{}", &a[..43]), "the token {} is in use"),
        whole(format!("ghp_{}", &a[..36]), "push with {}"),
        whole(format!("glpat-{}", &a[..20]), "the runner has {}"),
        whole(format!("xoxb-123456789012-{}", &a[..24]), "slack bot {}"),
        whole(format!("sk_live_{}", &a[..24]), "stripe {} for billing"),
        whole(format!("AIza{}", &a[..35]), "maps key {}"),
        whole(format!("AKIA{}", "QZKMWPXNBRTYHJDF"), "aws {} for backups"),
        whole(format!("LTAI{}", &a[..20]), "阿里云 {}"),
        whole(format!("AKID{}", &a[..32]), "腾讯云 {}"),
        whole(format!("npm_{}", &a[..36]), "publish with {}"),
        whole(format!("hf_{}", &a[..34]), "hub token {}"),
        whole(format!("hvs.{}", &a[..30]), "vault {}"),
        whole(format!("123456789:AA{}", &a[..33]), "the telegram bot is {}"),
        whole(format!("dop_v1_{hex}{}", &hex[..16]), "droplets {}"),
        whole(format!("SG.{}.{}", &a[..22], &a[..43]), "mail through {}"),
        whole(format!("{}-us12", &hex[..32]), "newsletter key {}"),
        whole("S3cr3tP4ss".to_owned(), "postgres://admin:{}@db.internal/app"),
        whole("R3disP4ss99".to_owned(), "redis://:{}@cache:6379"),
        whole("hunter2-Xk9".to_owned(), "the password is {}"),
        whole("hunter22zq".to_owned(), "pwd {}"),
        whole("Blue9Heronq".to_owned(), "the wifi password for the office is {}"),
        whole("Zebra77Quux".to_owned(), "{} is my password"),
        whole("Qwe123Abc999".to_owned(), "数据库密码是{}"),
        whole("Rty456Xyz888".to_owned(), "我把密码改成了{}"),
        whole("Uio789Wvu777".to_owned(), "登录密码 {}"),
        whole("abc123zq".to_owned(), "api_key={}"),
        whole("9f8e7d6c5bzq".to_owned(), "client_secret: \"{}\""),
        whole("a1b2c3d4zq".to_owned(), "密钥是 {}"),
        whole("x9kk2pQz77".to_owned(), "MYSQL_PWD={}"),
        whole("tooR12345q".to_owned(), "login: admin / {}"),
        whole(format!("{}q", &a[..31]), "Authorization: Bearer {}"),
        whole(format!("{}z", &a[..23]), "Cookie: sessionid={}"),
        whole(["078", "05", "1120"].join("-"), "SSN: {}"),
        whole("DE89370400440532013000".to_owned(), "pay to {}"),
        whole("000123456789".to_owned(), "bank account number {}"),
        whole("JBSWY3DPEHPK3PXP".to_owned(), "TOTP secret {}"),
        whole("482913".to_owned(), "验证码是 {}"),
        whole(words.to_owned(), "my seed phrase is {}"),
        whole("a1b2-c3d4-e5f6".to_owned(), "backup codes: {}"),
        whole(format!("693a91f6-{}", "7b1c-4bc4-97a0-0ec2f1fa5aaa"), "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={}"),
        whole(format!("T01ABCDEF/B02ABCDEF/{}", &a[..24]), "https://hooks.slack.com/services/{}"),
        whole(format!("0x{hex}{}", &hex[..16]), "private key {}"),
    ]
}

/// Tries to get a text in through every verb that takes one.
fn try_every_way(rpc: &mut Rpc, id: &str, text: &str, n: usize) {
    let label = text.replace('\n', " ");
    let source = json!({"session": text, "speaker": text, "program": text, "uri": text});
    let calls = [
        ("memory/remember", json!({"text": text, "explicit": true, "verbatim": true, "key": format!("a{n}")})),
        ("memory/remember", json!({"text": text})),
        ("memory/remember", json!({"text": "a note", "explicit": true, "tags": [label]})),
        ("memory/remember", json!({"text": "a note", "explicit": true, "entities": [label]})),
        ("memory/remember", json!({"text": "a note", "explicit": true, "source": source})),
        (
            "memory/rememberMany",
            json!({"items": [{"text": text}, {"text": text, "verbatim": true}, {"text": "ok", "explicit": true, "source": {"uri": text}}],
                   "key": format!("b{n}")}),
        ),
        (
            "memory/import",
            json!({"lines": [{"text": text}, {"text": "ok", "tags": [label]}, {"text": "ok", "moreSources": [{"speaker": text}]}],
                   "key": format!("c{n}")}),
        ),
        ("memory/update", json!({"id": id, "text": text, "ifVersion": 1, "key": format!("d{n}")})),
        ("memory/update", json!({"id": id, "tags": [label]})),
        ("memory/update", json!({"id": id, "entities": [label]})),
        ("memory/supersede", json!({"id": id, "memory": {"text": text}, "key": format!("e{n}")})),
        ("memory/supersede", json!({"id": id, "memory": {"text": "a note", "tags": [label]}})),
        ("session/new", json!({"title": text})),
        ("session/new", json!({"cwd": text})),
        ("turn/start", json!({"sessionId": "s", "input": text})),
    ];
    for (method, params) in calls {
        match rpc.call(method, params.clone()) {
            Err(error) => assert!(
                error.data.as_ref().is_some_and(|d| d.kind == "secretRefused" || d.kind == "invalidParams"),
                "{method}: {error:?}"
            ),
            Ok(result) => assert!(
                !result.to_string().contains("\"created\",")
                    && result.get("sessionId").is_none()
                    && result.get("created").is_none_or(|c| c == 0),
                "{method} {params}: {result}"
            ),
        }
    }
    // A question may hold one too, and so may whatever else a client sends: it is answered, and not written down.
    for (method, params) in [
        ("memory/recall", json!({"query": text, "use": true})),
        ("memory/context", json!({"query": text})),
        ("memory/list", json!({"text": text, "filter": {"tags": [label]}})),
        ("memory/get", json!({"id": text})),
        ("memory/remember", json!({"text": "a plain note", "space": text})),
        ("space/delete", json!({"space": text})),
        ("memory/stats", json!({"space": text})),
        ("memory/audit", json!({"id": text})),
        ("session/list", json!({"space": text})),
    ] {
        let _ = rpc.call(method, params);
    }
}

// M31, MEM-10
#[test]
fn a_refused_secret_is_nowhere_on_the_disk() {
    let mut daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let id = check::remember(&mut rpc, "an ordinary marker-zebra note");
    let planted = planted();
    assert!(planted.len() >= 40);
    for (n, (text, secret)) in planted.iter().enumerate() {
        try_every_way(&mut rpc, &id, text, n);
        let _: Value = rpc.ask("memory/context", json!({"query": secret}));
        let _: Value = rpc.ask("memory/list", json!({"text": secret}));
    }
    assert_eq!(rpc.ask::<Value>("memory/get", json!({"id": id}))["version"], 1);
    check::recall_contains(&mut rpc, "marker-zebra", "an ordinary marker-zebra note");
    daemon.restart();
    daemon.terminate();
    let needles: Vec<&[u8]> = planted.iter().map(|(_, secret)| secret.as_bytes()).collect();
    let (mut files, mut marker) = (0, false);
    visit(daemon.home(), &mut |path, bytes| {
        files += 1;
        marker |= contains(bytes, b"an ordinary marker-zebra note");
        for needle in &needles {
            // The head of a key block names no secret; its body does.
            let needle = needle.rsplit(|b| *b == b'\n').next().unwrap();
            assert!(!contains(bytes, needle), "{} holds {:?}", path.display(), String::from_utf8_lossy(needle));
        }
    });
    let log = daemon.log();
    assert!(planted.iter().all(|(_, secret)| !log.contains(secret.rsplit('\n').next().unwrap())), "the log holds one");
    assert!(files >= 3 && marker, "the search sees what was kept: {files} files, marker {marker}");
}

fn visit(folder: &Path, look: &mut dyn FnMut(&Path, &[u8])) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = std::fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            visit(&path, look);
        } else if kind.is_file() {
            look(&path, &std::fs::read(&path).unwrap());
        }
    }
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}
