// Submissions of forms, one at a time.
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
