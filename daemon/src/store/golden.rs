//! Golden bytes: every record as it lies in the file, and the same bytes read and written by another crate.
//!
//! A line of `golden.txt` never changes once a store with it was released: a new shape is a new record version and a new line. That
//! wincode reads and writes the same bytes keeps the way out of bincode 1.3.3 open without a migration.
#![allow(clippy::unwrap_used)]

use super::codec::{self, Checks, ENVELOPE_BYTES};
use super::tables::{self, Table};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{Debug, Write};
use tiro_schema::record::*;
use wincode::{SchemaRead, SchemaWrite};

fn source() -> SourceRecord {
    SourceRecord {
        session: Some("c1".into()),
        position: Some(7),
        speaker: None,
        program: Some("nvim".into()),
        uri: Some("file:///a".into()),
        recorded_at_ms: 1_700_000_000_000,
    }
}

fn memory() -> MemoryRecord {
    MemoryRecord {
        key: 5,
        version: 2,
        id: [0xA5; 16],
        seq: 9,
        space: 3,
        kind: 1,
        category: 4,
        status: 2,
        change: 3,
        text: "茶 and tea".into(),
        tags: vec!["a".into(), "β".into()],
        entities: vec!["REQ-2041".into()],
        sources: vec![source()],
        seen_count: 4,
        importance: 0.25,
        pinned: true,
        explicit: false,
        verbatim: true,
        created_at_ms: 1,
        recorded_at_ms: -2,
        occurred_at_ms: Some(3),
        occurred_offset_min: Some(-90),
        valid_from_ms: None,
        valid_to_ms: Some(i64::MAX),
        superseded_by: Some(8),
        supersedes: None,
        vector_version: 1,
        vector_count: 2,
        derived_from: vec![1, u64::MAX],
    }
}

fn actor() -> ActorRecord {
    ActorRecord { uid: 1000, pid: 42, executable: "/usr/bin/nvim".into(), client: "nvim".into() }
}

fn audit() -> AuditRecord {
    AuditRecord {
        row: 3,
        at_ms: 4,
        method: "memory/recall".into(),
        write: false,
        space: 2,
        keys: vec![5, 6],
        actor: actor(),
        outcome: "refused: gate:question".into(),
        recall: Some([0xB7; 16]),
        cut: Some(AuditCutRecord { first: 1, last: 2, hash: [0x22; 32] }),
        chain: [0x11; 32],
    }
}

/// The same as the first version has it.
fn first_audit() -> AuditRecordV1 {
    let AuditRecord { row, at_ms, method, write, space, keys, actor, chain, .. } = audit();
    AuditRecordV1 { row, at_ms, method, write, space, keys, actor, chain }
}

fn session() -> SessionRecord {
    SessionRecord {
        key: 6,
        id: [1; 16],
        space: 2,
        title: "t".into(),
        cwd: Some("/tmp".into()),
        model: None,
        also_read: vec!["personal".into()],
        created_at_ms: 1,
        updated_at_ms: 2,
        message_count: 3,
        turn_count: 4,
        event_seq: 5,
    }
}

fn turn() -> TurnRecord {
    TurnRecord {
        id: [2; 16],
        session: 6,
        status: 2,
        termination: Some(0),
        text: "done".into(),
        error_json: None,
        input_tokens: 1,
        output_tokens: 2,
        model_calls: 3,
        tool_calls: 4,
        steps_max: 5,
        tokens_max: 6,
        time_ms_max: 7,
        recalled: vec![5],
        input_json: "[]".into(),
        created_at_ms: 8,
        ended_at_ms: Some(9),
    }
}

fn store() -> StoreRecord {
    StoreRecord { format: 1, id: [3; 16], epoch: 2, created_at_ms: 1, embedder: "static".into(), dimension: 192 }
}

fn idempotency() -> IdempotencyRecord {
    IdempotencyRecord { body_hash: [4; 32], result_json: "{}".into(), expires_at_ms: 5 }
}

fn conflict() -> ConflictRecord {
    ConflictRecord {
        key: 11,
        id: [8; 16],
        space: 3,
        first: 5,
        second: 10,
        state: 2,
        reason: 1,
        opened_at_ms: 1,
        resolved_at_ms: Some(2),
        resolved_seq: 12,
    }
}

fn purge() -> PurgeRecord {
    PurgeRecord {
        key: 13,
        id: [9; 16],
        method: "store/purge".into(),
        requested_at_ms: 1,
        count: 2,
        hidden_from_ms: -3,
        hidden_to_ms: 4,
        rows_at_ms: Some(5),
        sessions_at_ms: None,
        store_at_ms: Some(6),
        index_at_ms: None,
        vectors_at_ms: Some(7),
        backups_at_ms: None,
        session_rows: 8,
        backups_removed: 9,
        set_aside_removed: 10,
        put_off: "busy".into(),
    }
}

/// Seals a record, reads it back, and adds its line.
fn line<R: Serialize + DeserializeOwned + PartialEq + Debug>(lines: &mut String, table: Table, key: &[u8], record: &R) {
    let bytes = codec::seal(table, key, record).unwrap();
    assert_eq!(&codec::unseal::<R>(table, key, &bytes, Checks::On).unwrap(), record);
    let hex = |bytes: &[u8]| bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    writeln!(lines, "{} v{} {} {}", table.name, table.version, hex(key), hex(&bytes)).unwrap();
}

fn lines() -> String {
    let mut lines = String::new();
    let all = &mut lines;
    line(all, tables::SETTINGS, tables::SETTING_STORE.as_bytes(), &store());
    line(all, tables::SETTINGS, tables::SETTING_SEQ.as_bytes(), &7_u64);
    let head = AuditHeadRecord { row: 9, chain: [1; 32], first_row: 3, checkpoint: [2; 32] };
    line(all, tables::SETTINGS, tables::SETTING_AUDIT.as_bytes(), &head);
    line(all, tables::SETTINGS, b"room", &b"bytes".to_vec());
    line(all, tables::MEMORIES, &super::keys::u64_u32(5, 2), &memory());
    line(all, tables::MEMORY_CURRENT, &super::keys::u64(5), &2_u32);
    line(all, tables::MEMORY_IDS, &[0xA5; 16], &5_u64);
    line(all, tables::MEMORY_SPACES, &super::keys::u32_u64(3, 5), &2_u8);
    line(all, tables::FINGERPRINTS, &super::keys::u32_16(3, &[6; 16]), &5_u64);
    line(all, tables::VECTORS, &super::keys::passage(5, 1, 0), &VectorRecord { values: vec![0.5, -1.0] });
    line(all, tables::USAGE, &super::keys::u64(5), &UseRecord { last_used_at_ms: 8, use_count: 2 });
    let feedback = FeedbackRecord {
        wrong: 2,
        ignored: 3,
        recall: [0xB7; 16],
        verdict: 2,
        wrong_before: 1,
        ignored_before: 3,
        used_before: UseRecord { last_used_at_ms: 8, use_count: 2 },
        at_ms: 9,
    };
    line(all, tables::FEEDBACK, &super::keys::u64(5), &feedback);
    let nvim = PrincipalRecord { executable: Some("/usr/bin/nvim".into()), client: Some("nvim".into()) };
    let rules = SpaceRulesRecord {
        retention_days: Some(30),
        retention_act: 1,
        gate: 2,
        readers: Some(vec![nvim]),
        writers: None,
        memories_max: Some(7),
        bytes_max: None,
    };
    line(all, tables::SPACE_RULES, &super::keys::u32(3), &rules);
    let space = SpaceRecord { id: 3, name: "work".into(), created_at_ms: 1, redact_secrets: true };
    line(all, tables::SPACES, &super::keys::u32(3), &space);
    line(all, tables::SPACE_NAMES, b"work", &3_u32);
    line(all, tables::SESSIONS, &super::keys::u64(6), &session());
    line(all, tables::SESSION_IDS, &[1; 16], &6_u64);
    line(all, tables::SESSION_SPACES, &super::keys::u32_u64(2, 6), &());
    let message =
        MessageRecord { position: 1, turn: [2; 16], role: 1, content_json: "[]".into(), created_at_ms: 3, partial: true };
    line(all, tables::MESSAGES, &super::keys::u64_u64(6, 1), &message);
    line(all, tables::TURNS, &[2; 16], &turn());
    line(all, tables::SESSION_TURNS, &super::keys::session_turn(6, 8, &[2; 16]), &());
    let details = TurnDetailsRecord { details_json: "{\"taskKind\":\"question\"}".into() };
    line(all, tables::TURN_DETAILS, &[2; 16], &details);
    let result = ResultRecord {
        number: 1,
        turn: [2; 16],
        call_id: "a".into(),
        tool: "dump".into(),
        format: 1,
        is_error: false,
        chars: 2,
        tokens: 3,
        parts: 1,
        brief: "b".into(),
        created_at_ms: 4,
    };
    line(all, tables::RESULTS, &super::keys::u64_u64(6, 1), &result);
    let part = ResultPartRecord { text: "[]".into() };
    line(all, tables::RESULT_PARTS, &super::keys::u64_u64_u32(6, 1, 0), &part);
    let question = QuestionRecord {
        id: [9; 16],
        session: 6,
        turn: [2; 16],
        call_id: "a".into(),
        kind: 0,
        prompt: "Which?".into(),
        options: vec!["A".into()],
        arguments_hash: [5; 32],
        state: 1,
        answer: Some("A".into()),
        created_at_ms: 4,
        settled_at_ms: Some(5),
    };
    line(all, tables::QUESTIONS, &[9; 16], &question);
    line(all, tables::SESSION_QUESTIONS, &super::keys::u64_16(6, &[9; 16]), &1_u8);
    let state = SessionStateRecord { state_json: "{}".into() };
    line(all, tables::SESSION_STATES, &super::keys::u64(6), &state);
    let event = EventRecord { event_seq: 1, method: "turn/started".into(), params_json: "{}".into() };
    line(all, tables::EVENTS, &super::keys::u64_u64(6, 1), &event);
    line(all, Table { version: 1, ..tables::AUDIT }, &super::keys::u64(3), &first_audit());
    line(all, tables::AUDIT, &super::keys::u64(3), &audit());
    line(all, tables::OUTBOX, &super::keys::u64(9), &OutboxRecord { key: 5, version: 2, remove: true });
    line(all, tables::IDEMPOTENCY, &[7; 32], &idempotency());
    line(all, tables::IDEMPOTENCY_EXPIRY, &super::keys::time_32(5, &[7; 32]), &());
    line(all, tables::CONFLICTS, &super::keys::u32_u64(3, 11), &conflict());
    line(all, tables::CONFLICT_MEMORIES, &super::keys::u64_u64(5, 11), &3_u32);
    let vector = VectorRecord { values: vec![0.5, -1.0] };
    line(all, tables::MODEL_VECTORS, &super::keys::model_passage(1, 5, 1, 0), &vector);
    let embedder = EmbedderRecord { id: "openai/e5".into(), dimension: 2, created_at_ms: 3 };
    line(all, tables::EMBEDDERS, &super::keys::u32(1), &embedder);
    line(all, tables::MODEL_BACKGROUNDS, &super::keys::u32_u32(1, 7), &vector);
    line(all, tables::PURGES, &super::keys::u64(13), &purge());
    line(all, tables::PURGED, &[0xA5; 16], &PurgedRecord { purge: 13, key: 5, space: 6, hidden_at_ms: 4 });
    line(all, tables::PURGED_BY, &super::keys::u64_16(13, &[0xA5; 16]), &());
    lines
}

// STORE-3
#[test]
fn every_record_has_its_bytes() {
    let (now, golden) = (lines(), include_str!("golden.txt"));
    assert!(now == golden, "records have other bytes than in golden.txt; now they are:\n{now}");
    let named = |table: &Table| golden.lines().any(|line| line.starts_with(&format!("{} v{} ", table.name, table.version)));
    assert!(tables::ALL.iter().all(named), "a table has no line");
}

// STORE-2: a record in the wrong place, or with any bit turned, is not believed
#[test]
fn a_turned_bit_or_another_place_is_damage() {
    let key = super::keys::u64_u32(5, 2);
    let bytes = codec::seal(tables::MEMORIES, &key, &memory()).unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut turned = bytes.clone();
            turned[at] ^= 1 << bit;
            let error = codec::unseal::<MemoryRecord>(tables::MEMORIES, &key, &turned, Checks::On).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("table memories") && text.contains("000000000000000500000002"), "{text}");
        }
    }
    for cut in 0..bytes.len() {
        assert!(codec::payload(tables::MEMORIES, &key, &bytes[..cut]).is_err(), "cut to {cut}");
    }
    assert!(codec::payload(tables::MEMORIES, &super::keys::u64_u32(5, 3), &bytes).is_err());
    assert!(codec::payload(tables::TURNS, &key, &bytes).is_err());
}

// STORE-2: bytes that claim more than there is are refused without room being made for it
#[test]
fn a_hostile_length_is_refused() {
    for record in [&[0xFF; 8][..], &[0xFF; 40], &[0, 0, 0, 0x7F, 0, 0, 0, 0]] {
        let mut bytes = vec![1; ENVELOPE_BYTES];
        bytes.extend(record);
        assert!(codec::unseal::<Vec<String>>(tables::SETTINGS, b"x", &bytes, Checks::OffForTests).is_err());
        assert!(codec::unseal::<MemoryRecord>(tables::MEMORIES, b"x", &bytes, Checks::OffForTests).is_err());
    }
    let trailing = [codec::seal(tables::SETTINGS, b"x", &1_u64).unwrap(), vec![0]].concat();
    assert!(codec::unseal::<u64>(tables::SETTINGS, b"x", &trailing, Checks::OffForTests).is_err());
    let large = "x".repeat(crate::limits::RECORD_BYTES_MAX as usize);
    assert!(codec::seal(tables::SETTINGS, b"x", &large).is_err());
}

/// The same members in the same order, for wincode.
mod mirror {
    use super::*;

    #[derive(SchemaWrite, SchemaRead)]
    pub struct Source(Option<String>, Option<u64>, Option<String>, Option<String>, Option<String>, i64);

    #[derive(SchemaWrite, SchemaRead)]
    pub struct Memory {
        place: (u64, u32, [u8; 16], u64, u32),
        codes: (u8, u8, u8, u8),
        text: String,
        tags: Vec<String>,
        entities: Vec<String>,
        sources: Vec<Source>,
        weight: (u32, f32, bool, bool, bool),
        recorded: (i64, i64, Option<i64>, Option<i16>),
        valid: (Option<i64>, Option<i64>),
        chain: (Option<u64>, Option<u64>),
        vectors: (u32, u16),
        derived_from: Vec<u64>,
    }

    #[derive(SchemaWrite, SchemaRead)]
    pub struct Session {
        place: (u64, [u8; 16], u32),
        title: String,
        cwd: Option<String>,
        model: Option<String>,
        also_read: Vec<String>,
        times: (i64, i64),
        counts: (u64, u64, u64),
    }

    #[derive(SchemaWrite, SchemaRead)]
    pub struct Turn {
        place: ([u8; 16], u64, u8, Option<u8>),
        text: String,
        error_json: Option<String>,
        spent: (u64, u64, u32, u32),
        limits: (u32, u64, u64),
        recalled: Vec<u64>,
        input_json: String,
        times: (i64, Option<i64>),
    }

    #[derive(SchemaWrite, SchemaRead)]
    pub struct Audit {
        row: (u64, i64),
        method: String,
        write: bool,
        space: u32,
        keys: Vec<u64>,
        actor: (u32, i32, String, String),
        outcome: String,
        recall: Option<[u8; 16]>,
        cut: Option<(u64, u64, [u8; 32])>,
        chain: [u8; 32],
    }

    #[derive(SchemaWrite, SchemaRead)]
    pub struct FirstAudit {
        row: (u64, i64),
        method: String,
        write: bool,
        space: u32,
        keys: Vec<u64>,
        actor: (u32, i32, String, String),
        chain: [u8; 32],
    }

    #[derive(SchemaWrite, SchemaRead)]
    pub struct Store(u32, [u8; 16], u64, i64, String, u32);

    #[derive(SchemaWrite, SchemaRead)]
    pub struct Idempotency([u8; 32], String, i64);

    #[derive(SchemaWrite, SchemaRead)]
    pub struct Vector(Vec<f32>);

    #[derive(SchemaWrite, SchemaRead)]
    pub struct Embedder(String, u32, i64);
}

// STORE-3: the format outlives the crate that writes it
#[test]
fn wincode_reads_and_writes_the_same_bytes() {
    macro_rules! same {
        ($table:expr, $record:expr, $mirror:ty) => {{
            let ours = codec::canonical($table, &$record).unwrap();
            let theirs: $mirror = wincode::deserialize(&ours).unwrap();
            assert_eq!(wincode::serialize(&theirs).unwrap(), ours, stringify!($mirror));
        }};
    }
    same!(tables::MEMORIES, memory(), mirror::Memory);
    same!(tables::SESSIONS, session(), mirror::Session);
    same!(tables::TURNS, turn(), mirror::Turn);
    same!(tables::AUDIT, audit(), mirror::Audit);
    same!(Table { version: 1, ..tables::AUDIT }, first_audit(), mirror::FirstAudit);
    same!(tables::SETTINGS, store(), mirror::Store);
    same!(tables::IDEMPOTENCY, idempotency(), mirror::Idempotency);
    same!(tables::VECTORS, VectorRecord { values: vec![0.5, -1.0] }, mirror::Vector);
    let embedder = EmbedderRecord { id: "openai/e5".into(), dimension: 2, created_at_ms: 3 };
    same!(tables::EMBEDDERS, embedder, mirror::Embedder);
}
