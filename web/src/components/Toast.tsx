import { render } from 'preact';
import { me } from '../config';
import { Failure } from '../graphql';
import { t } from '../strings';

let timer: ReturnType<typeof setTimeout> | undefined;

/** Returns the message for an error, without what the fields in known show themselves. */
export function explain(error: unknown, known?: string[]): string {
  if (!(error instanceof Failure)) return String(error);
  if (error.code === 'FORBIDDEN' && error.message) return error.message; // it says what is needed
  return t.errors[error.code] ?? error.besides(known);
}

/** Shows a message, or the message for an error, for some seconds. The header shows that the session has ended. */
export function say(message: unknown) {
  const place = document.getElementById('toast');
  if (!place || (me && message instanceof Failure && message.code === 'UNAUTHENTICATED')) return;
  const bar = document.querySelector('.publish-bar')?.getBoundingClientRect();
  place.style.bottom = bar && bar.bottom > innerHeight / 2 ? `${innerHeight - bar.top + 12}px` : ''; // above the buttons of the form
  render(<p>{typeof message === 'string' ? message : explain(message)}</p>, place);
  place.classList.add('shown');
  clearTimeout(timer);
  timer = setTimeout(() => place.classList.remove('shown'), 5000);
}
