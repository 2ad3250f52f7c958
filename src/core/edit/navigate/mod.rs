//! Moving the leaf within a file (help rules, "Navigating"): where it goes (`plan`), whose summary is stored
//! (`request`), what is written (`record`), and what is shown of it (`view`).

mod plan;
mod record;
mod request;
mod view;

pub use plan::Move;
pub use record::{MoveOutcome, MoveRecord, Summary, WrittenMove};
pub(crate) use record::{append_mark, append_saved};
pub use request::{MoveRequest, SummaryRequest};
pub use view::{Landmark, MoveView};
