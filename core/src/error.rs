//! What can go wrong in the core, each as a sentence a user can read.

use std::fmt;

/// An error of the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Data or settings that contradict themselves.
    Invalid(String),
    /// A byte of the text for which the vocabulary has no token.
    MissingByte {
        /// The byte.
        byte: u8,
        /// Its offset in the block.
        offset: usize,
    },
    /// An id that no token has.
    MissingId {
        /// The id.
        id: u32,
        /// Its place among the ids.
        place: usize,
    },
    /// Memory that the system refuses.
    Memory(String),
    /// A bound on memory, which the caller has set, that would be passed.
    Bound(String),
    /// The caller asked to stop.
    Stopped,
}

/// Makes an [`Error::Invalid`] of what `format!` takes.
macro_rules! invalid {
    ($($sentence:tt)+) => {
        $crate::error::Error::Invalid(format!($($sentence)+))
    };
}

/// Returns an [`Error::Invalid`] unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($sentence:tt)+) => {
        if !$holds {
            return Err($crate::error::invalid!($($sentence)+));
        }
    };
}

pub(crate) use {ensure, invalid};

/// The core's result.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The same, its offset in a part of the text moved to that in the whole.
    #[must_use]
    pub(crate) fn moved(self, by: isize) -> Self {
        match self {
            Self::MissingByte { byte, offset } => Self::MissingByte {
                byte,
                offset: offset.saturating_add_signed(by),
            },
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(sentence) | Self::Memory(sentence) | Self::Bound(sentence) => {
                f.write_str(sentence)
            }
            Self::MissingByte { byte, .. } => write!(f, "byte 0x{byte:02X} has no token"),
            Self::MissingId { id, .. } => write!(f, "id {id} has no token"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {}
