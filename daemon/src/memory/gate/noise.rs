//! Lines that programs write: logs, traces, dumps, progress, prompts; and keys struck at random.
//!
//! Looks at the form of a line, not at what it says. Pure. Must not know: cues.

use super::super::patterns::Patterns;
use super::words::is_han;
use std::sync::LazyLock;

/// How a line of a program begins, over the line as it was written. Every one is anchored, so that other lines are left at once.
const BEGINNINGS: &[&str] = &[
    // Logs: a time and a level, or a level in front.
    r"^[\[(【]?(?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}|[0-9]{2}:[0-9]{2}:[0-9]{2}|[A-Z][a-z]{2} +[0-9]{1,2} [0-9]{2}:).{0,48}(?-u:\b)(?i-u:trace|debug|info|notice|warn|warning|error|fatal|critical|panic)(?-u:\b)",
    r"^[\[(【<]?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|PANIC|SEVERE)[\])】>]?[: \t\[]",
    r"^[\[(【](?i-u:trace|debug|info|notice|warn|warning|error|fatal|critical|system|tool|ok|fail|pass|done|skip)[\])】]",
    r"^[A-Z][a-z]{2} +[0-9]{1,2} [0-9]{2}:[0-9]{2}:[0-9]{2} [a-z0-9.-]+ [a-z]+(?:\[[0-9]+\])?:",
    r"^[0-9.]{7,15} - - \[",
    r#"^(?:time|level|ts)="?[^ ]+ .*(?:level|msg)="#,
    // Traces.
    r#"^[ \t]*(?:File "[^"]+", line [0-9]+|at [A-Za-z0-9_.$<>\[\] ]+ ?\([^)]*\)[ \t]*$|at (?:/|file:|async )|goroutine [0-9]+ \[|Exception in thread|Caused by: |thread '[^']*' (?:\([0-9]+\) )?panicked at|panic: |Segmentation fault|\.\.\. [0-9]+ more)"#,
    r"^[a-z]+(?:\.[A-Za-z$]+)+(?:Exception|Error)(?:: | at |$)|^[A-Z][A-Za-z]+(?:Error|Exception): .{0,120}$|^(?:error|warning)(?:\[[A-Z0-9]+\])?: |^ERROR [0-9]+ |^[^ ]+:[0-9]+:[0-9]+: (?:error|warning|note):|^npm (?:WARN|ERR|notice)|^error TS[0-9]+",
    r"^Uncaught |^HTTP/[0-9.]+ [0-9]{3}|^fatal: |^[dl-][rwx-]{9}[ .+@]|^==> |^(?:bash|sh|zsh|fish|cmd): |^(?:错误|警告|异常|报错|Error|ERROR|Warning|WARN|Exception|Notice|Fatal)[：:] |^npm 错误|^(?:错误|警告|异常|报错)[：:]|^[=*#~_-]{3,}.*[=*#~_-]{3,}$|^[\[【](?:图片|文件|语音|视频|表情|链接|动画表情|位置|image|file|photo|sticker|attachment|video|audio)[^\]】]*[\]】]$|^(?:command not found|permission denied|no such file|segmentation fault|killed|aborted)(?-u:\b)",
    // Code.
    r#"^(?:SELECT .* FROM |INSERT INTO |UPDATE [^ ]+ SET |DELETE FROM |CREATE (?:TABLE|INDEX|VIEW) |ALTER TABLE |DROP (?:TABLE|INDEX) )|^[ \t]*(?:(?:async )?def [a-zA-Z_]+\(|(?:async |export |default )*function[ *]*[a-zA-Z_]*\(|(?:export )?(?:const|let|var) [a-zA-Z_$\{\[][^ ]* ?(?::[^=]+)?=|import [a-zA-Z_.*{][^.?!]{0,60}(?: from |;$|$)|from [a-zA-Z_.]+ import |#include ?[<"]|(?:public|private|protected) [a-zA-Z<>]+ |fn [a-z_]+\(|func [a-zA-Z_(]|class [A-Z][A-Za-z]*[({:]|return [^ ]+;$|@[a-zA-Z_.]+\(|[})\]]+[;,]?$|.*[;{]$|.*\) ?(?:=>|->) .*[({:]$)"#,
    // Progress.
    r"^(?i-u:downloading|installing|compiling|building|extracting|uploading|fetching|unpacking|linking|copying|loading|processing|indexing|pulling|pushing|cloning|resolving|receiving|collecting|generating|transferring|checking out|scanning|verifying|updating|reading|writing)(?-u:\b)[^.?!]{0,60}(?:[0-9]+ ?%|[0-9]+ ?/ ?[0-9]+|\.\.\.|…|v[0-9]+\.[0-9]+)",
    r"^(?:正在|开始)?(?:下载|安装|编译|上传|解压|加载|处理|同步|构建|导入|导出|扫描|读取|写入)(?:依赖|文件|中|进度|模块|数据|资源|镜像|包)?[^，。]{0,12}(?:[0-9]+ ?%|[0-9]+ ?/ ?[0-9]+|…|\.\.\.)",
    r"^[【\[(]?(?:进度|下载|上传|安装|编译)[】\])]|^进度[：: ]|^已?(?:完成|处理|下载|上传|导入|同步)[：: ]*[0-9]+ ?/ ?[0-9]+|^Cloning into ",
    r"^(?:Compiling|Finished|Downloaded|Downloading|Fetching|Running|Updating|Locking|Installed|Checking) [`a-z_0-9-]+ (?:v[0-9]|\[|profile|target)|^(?:added|removed|changed|audited|up to date,?) [0-9]+ packages?|^(?:Step|STEP|Stage) [0-9]+/[0-9]+|^(?:Epoch|Iteration|Batch|Iter|step) [0-9]+ ?[/:]|^test [a-z_:0-9]+ \.\.\. |^test result: |^(?:PASS|FAIL|ok|not ok) [^ ]+[./]|^=+ .* =+$|^(?:Successfully )?(?:built|tagged|installed|pulled) [a-z0-9./:-]+[0-9a-f:.]+$|^=> |^(?:Get|Hit|Ign):[0-9]+ ",
    // Shells and tools.
    r"^[$❯➜%] [a-z./]|^[a-z0-9_-]+@[A-Za-z0-9_.-]+:[^ ]*[$#] ?|^PS [A-Z]:\\|^[A-Z]:\\[^ ]*>|^>>> |^In \[[0-9]+\]:",
    r"^(?i-u:process |program |command )?(?i-u:exited|finished|terminated|returned|exit)(?: with)?(?: (?:exit )?(?:code|status))[: ]*-?[0-9]|^(?:exit|return)[ _-]?(?:code|status)[:= ]+-?[0-9]+|^(?i-u:tool|function)[ _-]?(?:call|result|output|response|use)s? ?[:=({\[]|^</?(?:tool|function|system|result|output|stdout|stderr|thinking|command|invoke)[a-z_-]*[ />]|^(?:stdout|stderr|stdin|retval|output) ?[:=]|^\[(?:tool|system|debug|info|assistant|function)[^\]]{0,40}\]",
    r"^(?:工具调用|工具返回|工具输出|函数调用|调用结果|返回值|返回结果|执行结果|执行完毕|命令输出|标准输出|退出码|退出状态|系统消息|系统日志)[^，。]{0,6}[：:= ]|^耗时[：: ]*[0-9]|^共?耗时 ?[0-9.]+ ?(?:s|ms|秒|毫秒)",
    // Dumps: markup, diffs, hexadecimal.
    r"^@@ -[0-9]+|^\+\+\+ [ab]/|^--- [ab]/|^diff --git |^index [0-9a-f]{7,}\.\.|^(?:commit|tree|parent) [0-9a-f]{40}$",
    r"^<(?:!DOCTYPE|\?xml|html|head|body|div|span|p|table|tr|td|ul|li|svg|script|style|root|[a-z-]+ [a-z-]+=)[ >?]?.*>$",
    r"^(?:[0-9a-fA-F]{2}[ :]){7,}|^[0-9a-f]{8}[: ] (?:[0-9a-f]{4} ){4}",
];

/// What gives a line of a program away wherever it stands.
const ANYWHERE: &[&str] = &[
    r"Traceback \(most recent call last\)|: command not found|(?i-u:lorem ipsum)",
    r#""(?:GET|POST|PUT|DELETE|HEAD) /[^" ]* HTTP/[0-9.]+" [0-9]"#,
    r"[█▓▒░■□▮▯][█▓▒░■□▮▯][█▓▒░■□▮▯]|\[[=#>. -][=#>. -][=#>. -][=#>. -]+\]|\|[#=█ ][#=█ ][#=█ ][#=█ ]+\|",
    r"[0-9] ?(?:[KMG]i?B|it|kB|B)/s[ ,\])]|(?-u:\b)(?:eta|ETA) [0-9]",
    r"退出(?:码|状态)[：:= ]*-?[0-9]+$",
    r"0x[0-9a-fA-F]+[ ,]+0x[0-9a-fA-F]+[ ,]+0x",
];

struct Table {
    beginnings: Patterns,
    anywhere: Patterns,
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table { beginnings: Patterns::new(BEGINNINGS), anywhere: Patterns::new(ANYWHERE) });

/// Characters of a line that are looked at: forms stand at its beginning.
const FORM_BYTES_MAX: usize = 512;

/// Whether a line was written by a program, or by nobody.
pub(super) fn is_noise(line: &str) -> bool {
    let line = line.trim_end();
    let mut end = line.len().min(FORM_BYTES_MAX);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let head = &line[..end];
    is_wordless(head)
        || is_dump(head.trim_start())
        || is_table(head)
        || is_struck(head.trim())
        || TABLE.beginnings.is_match(head)
        || TABLE.anywhere.is_match(head)
}

/// Marks and numbers with hardly a letter among them.
fn is_wordless(line: &str) -> bool {
    let (mut letters, mut others) = (0usize, 0usize);
    for c in line.chars().filter(|c| !c.is_whitespace()) {
        if c.is_alphabetic() { letters += if is_han(c) { 3 } else { 1 } } else { others += 1 }
    }
    letters == 0 || (letters * 5 < others * 2 && letters < 12)
}

/// JSON and the like: quoted names with colons, many of them for the length.
fn is_dump(line: &str) -> bool {
    let opens = line.starts_with(['{', '[']);
    if !opens && !line.contains('{') {
        return false;
    }
    let members = line.match_indices('"').filter(|(at, _)| line[at + 1..].trim_start().starts_with(':')).count();
    let marks = line.bytes().filter(|b| matches!(b, b'{' | b'}' | b'[' | b']' | b'"' | b':' | b',')).count();
    (opens && (members >= 1 || marks * 4 >= line.len())) || (members >= 2 && marks * 6 >= line.len())
}

/// Cells parted by commas without a space, as in a file of them.
fn is_table(line: &str) -> bool {
    let bytes = line.as_bytes();
    let bare = bytes.windows(2).filter(|w| w[0] == b',' && !w[1].is_ascii_whitespace()).count();
    bare >= 4 && bare > bytes.iter().filter(|b| **b == b' ').count()
}

/// Rows of a keyboard, both ways.
const ROWS: [&str; 6] = ["qwertyuiop", "asdfghjkl", "zxcvbnm", "poiuytrewq", "lkjhgfdsa", "mnbvcxz"];

/// Bytes of a line that could have been struck at random.
const STRUCK_BYTES_MAX: usize = 48;

/// Keys struck at random, or one struck again and again.
fn is_struck(line: &str) -> bool {
    if line.len() > STRUCK_BYTES_MAX {
        return false;
    }
    let text: String = line.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    let letters = text.chars().count();
    if letters < 3 {
        return false;
    }
    let mut kinds: Vec<char> = text.chars().collect();
    kinds.dedup();
    let runs = kinds.len();
    kinds.sort_unstable();
    kinds.dedup();
    let repeated = kinds.len() == 1 || (letters >= 6 && kinds.len() == 2 && runs * 2 < letters);
    let along = text.is_ascii() && letters >= 6 && {
        let along = (0..letters - 2).filter(|at| ROWS.iter().any(|row| row.contains(&text[*at..*at + 3]))).count();
        along * 2 >= letters - 2
    };
    repeated || along
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_programs_are_noise() {
        for line in [
            "2024-11-02 10:14:55,120 INFO  [main] c.a.Server - up",
            "[ERROR] 2024-03-01 12:00:01 连接超时",
            "{\"status\":\"ok\",\"n\":1}",
            "    at Object.<anonymous> (/srv/app/index.js:10:15)",
            "[=========>          ] 47%",
            "Compiling serde v1.0.203",
            "$ ls -la",
            "exit code 0",
            "asdfasdf jkl;",
            "啊啊啊啊",
            "!!!",
            "👍👍",
            "12 34 56",
            "+++ b/src/main.rs @@ -10,7 +10,9 @@",
        ] {
            assert!(is_noise(line), "{line}");
        }
    }

    #[test]
    fn lines_of_people_are_not() {
        for line in [
            "The root cause was a KeyError in app.py",
            "logs are under /var/log/acme/api.log",
            "port 5433",
            "REQ-2041 is open",
            "用的是 MySQL 8.0.32",
            "NODE_ENV=production on all worker boxes",
            "Use {name} as the placeholder in templates.",
            "The config is {\"retries\": 3} on staging, {\"retries\": 5} on production, we agreed.",
            "Error budgets are reviewed monthly",
            "cron for the nightly export: 30 2 * * *",
            "C++ is preferred",
            "吃",
        ] {
            assert!(!is_noise(line), "{line}");
        }
    }

    #[test]
    fn every_form_compiles() {
        assert_eq!((TABLE.beginnings.len(), TABLE.anywhere.len()), (BEGINNINGS.len(), ANYWHERE.len()));
        assert!(BEGINNINGS.iter().all(|form| form.starts_with('^')));
    }
}
