//! Memory: what pieces became, kept exactly and within bounds, and how its pages are asked for.

pub mod asking;
pub mod budget;
pub(crate) mod huge_pages;
pub mod kept;
pub(crate) mod key;
pub mod lately;
pub mod piece_cache;
pub(crate) mod prefetch;
pub mod reserve;
mod ring;
pub mod room;
pub(crate) mod shares;
pub(crate) mod slots;
pub(crate) mod spare;
mod table_pages;
