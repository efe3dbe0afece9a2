import { say } from './components/Toast';

/**
 * Changes a list, and shows the error if that fails. If the change moves or removes the element that has the focus, the element or the one
 * in its place gets the focus again, so that the keyboard continues there and not at the top of the page.
 */
export async function changeList(change: () => Promise<unknown>) {
  const before = document.activeElement as HTMLButtonElement;
  const item = before.closest('li');
  const list = item?.parentElement;
  const at = list ? [...list.children].indexOf(item!) : 0;
  try {
    await change();
  } catch (error) {
    say(error);
  }
  await new Promise(requestAnimationFrame);
  if (document.activeElement !== document.body && !before.disabled) return;
  if (before.isConnected && !before.disabled) return before.focus();
  const near = item?.isConnected ? item : list?.children[Math.min(at, list.children.length - 1)];
  (near?.querySelector<HTMLElement>('button:enabled') ?? document.getElementById('main')!).focus();
}
