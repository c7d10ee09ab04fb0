//! The client crate as a library: reach the daemon, keep a note, find it, go through a list, follow what fails.
//!
//! `cargo run -p tiro-client --example notes`; `tirod` has to be beside `tiro` or in `PATH`.

use tiro_client::connection::{CallError, CallOptions};
use tiro_client::schema::ErrorKind;
use tiro_client::schema::wire::memory::{
    ForgetParams, ForgetResult, GetParams, ListParams, ListResult, Memory, RecallParams, RecallResult, RememberParams,
    RememberResult,
};
use tiro_client::{launch, place};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The places follow TIRO_HOME, TIRO_SOCKET and the XDG folders; the daemon is started when nobody listens.
    let places = place::places(None)?;
    let session = launch::reach(&places, "notes-example").await?;
    let daemon = &session.connection;

    // A key makes a write that is sent twice, as an answer was lost, happen once.
    let note = RememberParams {
        text: "The library example oils the loom on the first of the month.".to_owned(),
        explicit: Some(true),
        key: Some(uuid::Uuid::new_v4().to_string()),
        ..RememberParams::default()
    };
    let kept: RememberResult = daemon.call("memory/remember", &note).await?;

    let question = RecallParams { query: "when is the loom oiled?".to_owned(), limit: Some(3), ..RecallParams::default() };
    let options = CallOptions { timeout: Some(std::time::Duration::from_secs(10)), progress_token: None };
    let found: RecallResult = daemon.call_with("memory/recall", &question, options).await?;
    for hit in &found.hits {
        println!("{:.2}\t{}", hit.score, hit.text);
    }

    // Lists come in pages.
    let mut page = ListParams { limit: Some(50), ..ListParams::default() };
    let mut count = 0;
    loop {
        let listed: ListResult = daemon.call("memory/list", &page).await?;
        count += listed.items.len();
        match listed.next_cursor {
            Some(cursor) => page.cursor = Some(cursor),
            None => break,
        }
    }
    println!("{count} in memory");

    // What the daemon refuses says its kind and what to do.
    let nothing = GetParams { id: "00000000-0000-4000-8000-000000000000".to_owned() };
    match daemon.call::<_, Memory>("memory/get", &nothing).await {
        Err(CallError::Refused(error)) if error.kind() == Some(ErrorKind::NotFound) => {
            println!("as it should: {}", error.message)
        }
        other => return Err(format!("a memory that is not there: {other:?}").into()),
    }

    let ids = kept.id.into_iter().collect();
    let _: ForgetResult = daemon.call("memory/forget", &ForgetParams { ids: Some(ids), ..ForgetParams::default() }).await?;
    Ok(())
}
