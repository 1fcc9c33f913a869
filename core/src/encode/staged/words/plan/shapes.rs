//! What each shape of stages makes of a plan.

use super::{ALONE, Apart, BLANK, CLOSES, INSIDE, LETTER, Lead, Plan, SETTLED, is_cut_off, pieces};
use crate::boundaries::seams::Joints;
use crate::stages::Stages;

/// Where white space goes and punctuation is cut off. A character's neighbours have no say in what
/// becomes of it, except marks among themselves, which no word parts.
pub(super) fn words(stages: &Stages) -> Plan {
    let mut classes = [SETTLED; 256];
    let mut becomes = [0; 256];
    for byte in 0..0x80 {
        let pieces = pieces(stages, &[b'a', byte, b'a']);
        becomes[usize::from(byte)] = match &pieces[..] {
            [whole] => only(
                whole
                    .strip_prefix(b"a")
                    .and_then(|rest| rest.strip_suffix(b"a")),
            ),
            [_, own, _] if is_cut_off(&pieces) => only(Some(own)),
            _ => 0,
        };
        classes[usize::from(byte)] = match pieces.len() {
            2 if is_cut_off(&pieces) => BLANK,
            _ if is_cut_off(&pieces) => ALONE | SETTLED,
            _ => SETTLED,
        };
    }
    Plan {
        classes,
        blanks_go: true,
        becomes,
        characters: Apart::ByStages,
        ..Plan::default()
    }
}

/// Where nothing is known but that a text can be cut before a space between two letters.
pub(super) fn between_letters() -> Plan {
    let mut classes = [0; 256];
    for letter in (b'A'..=b'Z').chain(b'a'..=b'z') {
        classes[usize::from(letter)] = LETTER | SETTLED;
    }
    classes[usize::from(b' ')] = CLOSES;
    Plan {
        classes,
        begins: true,
        by_pieces: true,
        ..Plan::default()
    }
}

/// Whether a run of spaces becomes the same however long it is, as far as only its first and its last one have
/// other neighbours.
///
/// Normalizers of all known shapes rewrite a space between two others by itself: they look at each character, or at a cluster,
/// which two spaces never are in, or apply rules that begin with a space at most. So each becomes the same, of which
/// stages that cut at white space, or make one mark of a run of spaces, leave nothing over; that is tried.
pub(super) fn runs_shrink(stages: &Stages, lead: Lead) -> bool {
    let goes = match lead {
        Lead::Nothing | Lead::OneMark => stages.only_begins(b' '),
        Lead::Marks => false,
    };
    goes && !stages.kept().any(|text| text.contains(&b' ')) && pieces(stages, b"     ").is_empty()
}

/// A byte that stands alone, or 0.
fn only(bytes: Option<&[u8]>) -> u8 {
    match bytes {
        Some(&[byte]) => byte,
        _ => 0,
    }
}

/// What bytes become that stay as they are.
fn same(classes: &[u8; 256]) -> [u8; 256] {
    std::array::from_fn(|byte| match byte < 0x80 && classes[byte] & SETTLED != 0 {
        true => byte as u8,
        false => 0,
    })
}

/// What several blanks become between two bytes that stay as they are.
fn lead(stages: &Stages, settled: u8) -> Lead {
    let marks = [&[settled], "\u{2581}\u{2581}".as_bytes(), &[settled]].concat();
    match pieces(stages, &[settled, b' ', b' ', settled]).concat() == marks {
        true => Lead::Marks,
        false => Lead::OneMark,
    }
}

/// Where spaces become marks and nothing else changes: no token has a mark behind another character.
pub(super) fn marks(stages: &Stages, joints: Option<Joints>) -> Plan {
    let mut classes = [SETTLED; 256];
    classes[usize::from(b' ')] = BLANK;
    if let Some(joints) = &joints {
        for byte in (0..0x80).filter(|&byte| byte != b' ') {
            if joints.stands_alone(char::from(byte)) {
                classes[usize::from(byte)] |= ALONE;
            }
        }
    }
    let plan = Plan {
        becomes: same(&classes),
        classes,
        lead: lead(stages, b'a'),
        begins: true,
        characters: match joints {
            Some(_) => Apart::ByModel,
            None => Apart::Never,
        },
        joints,
        given_marks: true,
        ..Plan::default()
    };
    plan.with_signs()
}

/// Where a table of rules runs first: words end before a blank behind a visible character of ASCII that
/// the rules leave as it is, for no rule looks across that place. Nor does a text that the table keeps: what
/// it holds is no blank here, and where words are cut further its neighbours count as joined.
pub(super) fn mapped(stages: &Stages, mut joints: Option<Joints>) -> Option<Plan> {
    let is_held = |byte: u8| stages.kept().any(|text| text.contains(&byte));
    if let Some(joints) = &mut joints {
        joints.add(stages.kept());
    }
    let mut classes = [0; 256];
    let spaced = pieces(stages, b"a a");
    for byte in 0..0x80_u8 {
        let is_blank = byte.is_ascii_whitespace() && !is_held(byte) && stages.leave_blank(byte);
        classes[usize::from(byte)] = if !stages.only_begins(byte) {
            0
        } else if is_blank && pieces(stages, &[b'a', byte, b'a']) == spaced {
            BLANK
        } else if byte.is_ascii_graphic() && is_kept(stages, byte) {
            SETTLED
        } else {
            0
        };
    }
    let settled = (0..0x80).find(|&byte| classes[usize::from(byte)] & SETTLED != 0)?;
    let plan = Plan {
        becomes: same(&classes),
        classes,
        lead: lead(stages, settled),
        begins: true,
        joints,
        ..Plan::default()
    };
    (classes[usize::from(b' ')] == BLANK).then(|| plan.with_signs())
}

/// Whether a byte stays as it is. It is tried before another one too: blanks at the end of a text may go.
fn is_kept(stages: &Stages, byte: u8) -> bool {
    [&[byte][..], &[byte; 2]].into_iter().all(|bytes| {
        let mut text = crate::text::Text::new(bytes, false);
        stages.normalize(&mut text, INSIDE).is_ok() && text.bytes() == bytes
    })
}
