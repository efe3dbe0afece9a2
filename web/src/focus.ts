import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { say } from './components/Toast';

/**
 * Remembers the element that has the focus. The function that it returns is called after a change of the page. If that has removed or disabled
 * the element, the element or what is in its place gets the focus again, so that the keyboard continues there and not at the top of the page.
 */
export function holdFocus(): () => void {
  const before = document.activeElement as HTMLButtonElement;
  const item = before.closest('li, .field');
  const list = item?.parentElement;
  const at = list ? [...list.children].indexOf(item!) : 0;
  return () => requestAnimationFrame(() => {
    const now = document.activeElement;
    if (now !== document.body && !(now === before && before.disabled)) return; // the user or the page has moved it
    if (before.isConnected && !before.disabled) return before.focus();
    const near = item?.isConnected ? item : list?.isConnected ? list.children[Math.min(at, list.children.length - 1)] : null;
    if (focusIn(near, 'button:enabled, summary') || focusIn(near, 'a, input')) return;
    const place = (near as HTMLElement | null | undefined) ?? document.getElementById('main')!;
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
  });
}

/** Focuses an element if it matches the selector, and otherwise the first one within it that does. Returns whether there is one. */
export function focusIn(element: Element | null | undefined, selector: string): boolean {
  const found = element?.matches(selector) ? (element as HTMLElement) : element?.querySelector<HTMLElement>(selector);
  found?.focus();
  return !!found;
}

/** Focuses the first control of a form that has an error, which may be far above the button that the user has pressed. */
export function useFaultFocus(form: RefObject<HTMLFormElement>, failure: unknown) {
  useEffect(() => {
    const control = form.current?.querySelector<HTMLElement>('[aria-invalid]');
    const details = control?.closest('details');
    if (details) details.open = true;
    control?.focus();
  }, [failure]);
}

/** Changes a list, and shows the error if that fails. The focus is held. */
export async function changeList(change: () => Promise<unknown>) {
  const release = holdFocus();
  try {
    await change();
  } catch (error) {
    say(error);
  }
  release();
}
