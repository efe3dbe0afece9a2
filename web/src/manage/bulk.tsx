// Changes of many things, which can be undone for a minute.
import { mutate } from '../cache';
import { say } from '../components/Toast';
import { undoThingsUpdate, updateThings, type UpdateThingsInput } from '../generated';
import { messageOf } from '../graphql';
import { m } from './texts';

export const most = 500; // things of one update

export type Refusal = { id: string; text: string };
type Result = { id: string; error: { code: string; message: string; fieldCodes?: string[] } | null };

/** What the server says about a thing that it did not change, in the language of the page if there is a text. */
function textOf({ code, message, fieldCodes = [] }: NonNullable<Result['error']>): string {
  const own = m.refusals as Partial<Record<string, string>>;
  if (fieldCodes.length === 0) return own[code] ?? message;
  return fieldCodes.map((one) => own[one] ?? messageOf({ path: [], code: one, message })).join(' ');
}

const refused = (results: Result[]): Refusal[] => results.flatMap(({ id, error }) => (error ? [{ id, text: textOf(error) }] : []));

/** Undoes an update. */
async function undo(id: string, done: () => void) {
  try {
    const { undoThingsUpdate: payload } = await mutate(undoThingsUpdate, { input: { id } });
    const left = refused(payload!.results).length;
    say(left ? m.partlyUndone(left) : m.undone);
  } catch (error) {
    say(error);
  }
  done();
}

/** Changes things, and offers to undo that. done is called after both. It returns why things were not changed. */
export async function update(input: UpdateThingsInput, done: () => void): Promise<Refusal[]> {
  const { updateThings: payload } = await mutate(updateThings, { input });
  const { undoId, undoableUntil, results } = payload!;
  const refusals = refused(results);
  if (undoId) {
    const changed = results.length - refusals.length;
    const button = <button type="button" class="button undo" onClick={() => void undo(undoId, done)}>{m.undo}</button>;
    say(input.delete ? m.thingsDeleted(changed) : m.thingsChanged(changed), button, Math.min((Date.parse(undoableUntil!) - Date.now()) / 1000, 60));
  }
  done();
  return refusals;
}

/** The tags in the text of an input. */
export const tagsIn = (text: FormDataEntryValue | null) => String(text ?? '').split(',').map((tag) => tag.trim().replace(/^#+\s*/, '')).filter(Boolean);

