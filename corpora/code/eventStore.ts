/**
 * A typed, in-memory event store for a lending library.
 *
 * State is never changed in place: it is rebuilt by folding the events, so
 * any earlier moment can be looked at again with `stateAt`.
 */

export type BookId = `book-${number}`;

export type LibraryEvent =
	| { kind: 'added'; bookId: BookId; title: string }
	| { kind: 'lent'; bookId: BookId; reader: string; dueDay: number }
	| { kind: 'returned'; bookId: BookId }
	| { kind: 'retired'; bookId: BookId; reason?: string };

interface Loan {
	readonly reader: string;
	readonly dueDay: number;
}

export interface BookState {
	readonly title: string;
	readonly loan: Loan | null;
	readonly timesLent: number;
}

export type LibraryState = ReadonlyMap<BookId, BookState>;

interface Stored<E> {
	readonly sequence: number;
	readonly event: E;
}

function assertNever(value: never): never {
	throw new Error(`unexpected event: ${JSON.stringify(value)}`);
}

function requireBook(state: LibraryState, bookId: BookId): BookState {
	const book = state.get(bookId);
	if (book === undefined) {
		throw new RangeError(`unknown book ${bookId}`);
	}
	return book;
}

export function applyEvent(state: LibraryState, event: LibraryEvent): LibraryState {
	const next = new Map(state);
	switch (event.kind) {
		case 'added':
			if (state.has(event.bookId)) {
				throw new RangeError(`${event.bookId} is already on the shelf`);
			}
			next.set(event.bookId, { title: event.title, loan: null, timesLent: 0 });
			return next;
		case 'lent': {
			const book = requireBook(state, event.bookId);
			if (book.loan !== null) {
				throw new RangeError(`"${book.title}" is out with ${book.loan.reader}`);
			}
			const { reader, dueDay } = event;
			next.set(event.bookId, { ...book, loan: { reader, dueDay }, timesLent: book.timesLent + 1 });
			return next;
		}
		case 'returned':
			next.set(event.bookId, { ...requireBook(state, event.bookId), loan: null });
			return next;
		case 'retired':
			requireBook(state, event.bookId);
			next.delete(event.bookId);
			return next;
		default:
			return assertNever(event);
	}
}

export class EventStore {
	private readonly log: Stored<LibraryEvent>[] = [];
	private current: LibraryState = new Map();

	/** Check the event against the current state, then append it. */
	append(event: LibraryEvent): number {
		this.current = applyEvent(this.current, event);
		const sequence = this.log.length + 1;
		this.log.push({ sequence, event });
		return sequence;
	}

	get state(): LibraryState {
		return this.current;
	}

	stateAt(sequence: number): LibraryState {
		return this.log
			.filter((stored) => stored.sequence <= sequence)
			.reduce<LibraryState>((state, { event }) => applyEvent(state, event), new Map());
	}

	*overdue(today: number): Generator<[BookId, Loan]> {
		for (const [bookId, { loan }] of this.current) {
			if (loan && loan.dueDay < today) {
				yield [bookId, loan];
			}
		}
	}
}

const store = new EventStore();
store.append({ kind: 'added', bookId: 'book-1', title: 'Knots for Left Hands' });
store.append({ kind: 'added', bookId: 'book-2', title: 'The Quiet Lighthouse' });
store.append({ kind: 'lent', bookId: 'book-2', reader: 'Imke', dueDay: 14 });
for (const [bookId, loan] of store.overdue(20)) {
	console.log(`${bookId}: ${loan.reader} is ${20 - loan.dueDay} days late`);
}
