import { render } from 'preact';
import { Failure } from '../graphql';
import { t } from '../strings';

let timer: ReturnType<typeof setTimeout> | undefined;

/** Returns the message for an error, without what the fields in known show themselves. */
export function explain(error: unknown, known?: string[]): string {
  if (!(error instanceof Failure)) return String(error);
  if (error.code === 'FORBIDDEN' && error.message) return error.message; // it says what is needed
  return t.errors[error.code] ?? error.besides(known);
}

/** Shows a message, or the message for an error, for some seconds. */
export function say(message: unknown) {
  const place = document.getElementById('toast');
  if (!place) return;
  render(<p>{typeof message === 'string' ? message : explain(message)}</p>, place);
  place.classList.add('shown');
  clearTimeout(timer);
  timer = setTimeout(() => place.classList.remove('shown'), 5000);
}
