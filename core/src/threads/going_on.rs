//! Whether long work is to go on: there is memory for it, and whoever waits for it still wants it.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::memory::reserve;

/// How long work goes on between two questions.
const BETWEEN: Duration = Duration::from_millis(50);

/// How many calls of [`check`] there are between two looks at the clock.
const CALLS: u32 = 64;

/// What is asked, and when next.
#[derive(Clone, Copy)]
struct Question {
    ask: fn() -> Result<()>,
    next: Instant,
    calls: u32,
}

thread_local! {
    static QUESTION: Cell<Option<Question>> = const { Cell::new(None) };
}

/// Works, and asks now and then, in this thread alone, whether to go on: an error of `ask` ends the work.
#[cfg(any(test, feature = "python"))]
pub fn asking<T>(ask: fn() -> Result<()>, work: impl FnOnce() -> T) -> T {
    let question = Question {
        ask,
        next: Instant::now() + BETWEEN,
        calls: CALLS,
    };
    let _outer = Outer(QUESTION.replace(Some(question)));
    work()
}

/// What was asked before; it is again when this is dropped.
#[cfg(any(test, feature = "python"))]
struct Outer(Option<Question>);

#[cfg(any(test, feature = "python"))]
impl Drop for Outer {
    fn drop(&mut self) {
        QUESTION.set(self.0);
    }
}

/// Ends work that is not to go on. Called every few microseconds, at least every few milliseconds.
///
/// # Errors
/// [`crate::Error::Memory`] as [`reserve::check`]; what the question of [`asking`] gives.
#[inline]
pub fn check() -> Result<()> {
    reserve::check()?;
    match QUESTION.get() {
        None => Ok(()),
        Some(question) => question.count(),
    }
}

impl Question {
    #[inline]
    fn count(mut self) -> Result<()> {
        self.calls -= 1;
        if self.calls == 0 {
            return self.look();
        }
        QUESTION.set(Some(self));
        Ok(())
    }

    #[cold]
    fn look(mut self) -> Result<()> {
        self.calls = CALLS;
        let mut answer = Ok(());
        if Instant::now() >= self.next {
            QUESTION.set(None); // who is asked may work meanwhile
            answer = (self.ask)();
            self.next = Instant::now() + BETWEEN;
        }
        QUESTION.set(Some(self));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    thread_local! {
        static ASKED: Cell<u32> = const { Cell::new(0) };
    }

    fn asked() -> Result<()> {
        ASKED.set(ASKED.get() + 1);
        match ASKED.get() {
            3 => Err(Error::Stopped),
            _ => Ok(()),
        }
    }

    fn work_for_ever() -> Result<()> {
        loop {
            check()?;
        }
    }

    #[test]
    fn work_goes_on_until_the_answer_is_no() {
        assert_eq!(check(), Ok(()));
        ASKED.set(0);
        assert_eq!(asking(asked, work_for_ever), Err(Error::Stopped));
        assert_eq!(ASKED.get(), 3);
        assert!(QUESTION.get().is_none());
    }

    #[test]
    fn who_is_asked_may_work_meanwhile_and_others_are_not_asked() {
        fn works() -> Result<()> {
            ASKED.set(0);
            let inner = asking(asked, work_for_ever);
            std::thread::scope(|scope| {
                let other = scope.spawn(|| (0..10 * CALLS).try_for_each(|_| check()));
                assert_eq!(other.join().unwrap(), Ok(()));
            });
            inner
        }
        assert_eq!(asking(works, work_for_ever), Err(Error::Stopped));
        assert!(QUESTION.get().is_none());
    }

    #[test]
    fn a_panic_leaves_no_question() {
        let panics = || asking(asked, || panic!("on purpose"));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert!(QUESTION.get().is_none());
    }
}
