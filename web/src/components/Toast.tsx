import { render, type ComponentChildren } from 'preact';
import { me } from '../config';
import { Failure } from '../graphql';

let timer: ReturnType<typeof setTimeout> | undefined;

/** Returns the message for an error, without what the fields in known show themselves. */
export const explain = (error: unknown, known?: string[]): ComponentChildren => (error instanceof Failure ? error.explain(known) : String(error));

/** Puts the place of messages above a dialog that was opened after it. Its message may still be about to appear. */
export function raise() {
  const place = document.getElementById('toast')!;
  place.hidePopover();
  place.showPopover();
}

/** Shows a message, or the message for an error, above everything for some seconds, with an action if there is one. The header shows that the session has ended. */
export function say(message: unknown, action?: ComponentChildren, seconds = 5) {
  const place = document.getElementById('toast');
  if (!place || (me && message instanceof Failure && message.code === 'UNAUTHENTICATED')) return;
  const bar = document.querySelector('.publish-bar')?.getBoundingClientRect();
  place.style.bottom = bar && bar.bottom > innerHeight / 2 ? `${innerHeight - bar.top + 12}px` : ''; // above the buttons of the form
  // The text is added when a dialog that this action closes is closed: screen readers read no changes behind an open dialog.
  place.hidePopover();
  render(null, place);
  place.showPopover();
  clearTimeout(timer);
  timer = setTimeout(() => {
    render(<p>{typeof message === 'string' ? message : explain(message)} {action}</p>, place);
    timer = setTimeout(() => render(null, place), seconds * 1000);
  }, 100);
}
