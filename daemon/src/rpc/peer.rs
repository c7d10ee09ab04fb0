//! Who is at the other end, by what the kernel says.
//!
//! Must not know: what they want.

use tiro_schema::record::ActorRecord;
use tokio::net::UnixStream;

/// Somebody who may not connect.
#[derive(Debug, PartialEq, Eq)]
pub struct Stranger {
    /// Their uid; none when the kernel did not say.
    pub uid: Option<u32>,
}

/// The peer of a connection, if it is our own user. Root is nobody special.
///
/// # Errors
/// Names the uid of anybody else.
pub fn identify(stream: &UnixStream, own_uid: u32) -> Result<ActorRecord, Stranger> {
    let credentials = stream.peer_cred().map_err(|_| Stranger { uid: None })?;
    if credentials.uid() != own_uid {
        return Err(Stranger { uid: Some(credentials.uid()) });
    }
    let pid = credentials.pid().unwrap_or(0);
    Ok(ActorRecord { uid: credentials.uid(), pid, executable: executable(pid), client: String::new() })
}

/// Path of the program with this pid; empty where the system does not say.
fn executable(pid: i32) -> String {
    if pid <= 0 {
        return String::new();
    }
    std::fs::read_link(format!("/proc/{pid}/exe")).map(|path| path.display().to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn our_own_uid_is_let_in_and_no_other() {
        // API-2, A38, S1
        let (stream, _other) = UnixStream::pair().unwrap();
        let uid = nix::unistd::geteuid().as_raw();
        let actor = identify(&stream, uid).unwrap();
        assert_eq!(actor.pid, nix::unistd::getpid().as_raw());
        assert!(!actor.executable.is_empty());
        assert_eq!(identify(&stream, uid + 1), Err(Stranger { uid: Some(uid) }));
    }
}
