// Submissions of forms and of other choices, one at a time.
import { useRef, useState } from 'preact/hooks';
import { holdFocus } from './focus';
import { Failure } from './graphql';

/**
 * The submission of a form. submit runs an action and returns whether it succeeded; while one runs, further calls do nothing. busy disables
 * the button, which then has the focus again. failure is the error of the last action, for Fault and for the Fields of the form.
 */
export function useSubmission() {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const running = useRef(false); // the state changes only with the next rendering, which a double click precedes
  const submit = async (action: () => Promise<unknown>): Promise<boolean> => {
    if (running.current) return false;
    running.current = true;
    const release = holdFocus();
    setBusy(true);
    try {
      await action();
      setFailure(undefined);
      return true;
    } catch (error) {
      setFailure(error);
      return false;
    } finally {
      running.current = false;
      setBusy(false);
      release();
    }
  };
  /** The error of a field, or "". */
  const of = (field: string) => (failure instanceof Failure ? failure.of(field) : '');
  return { busy, failure, submit, of };
}

const wanted = new Map<string, unknown>(); // values that are being stored, by what they belong to

/**
 * Stores a value that the user chooses, such as whether they like a thing, and shows it at once. While it is sent, further choices for the
 * same key wait, and only the last one is sent. If that fails, it shows the value that is stored.
 */
export async function store<T>(key: string, before: T, to: T, show: (value: T) => void, send: (value: T) => Promise<unknown>) {
  show(to);
  const running = wanted.has(key);
  wanted.set(key, to);
  if (running) return;
  let stored = before;
  try {
    while (wanted.get(key) !== stored) {
      const next = wanted.get(key) as T;
      await send(next);
      stored = next;
    }
  } catch (error) {
    show(stored);
    throw error;
  } finally {
    wanted.delete(key);
  }
}

/** Returns a function that runs actions one after the other, so that each begins with the results of the previous ones. */
export function useQueue() {
  const last = useRef<Promise<unknown>>(Promise.resolve());
  return <T>(action: () => Promise<T>): Promise<T> => {
    const result = last.current.then(action);
    last.current = result.catch(() => undefined);
    return result;
  };
}
