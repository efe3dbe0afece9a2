import { render } from 'preact';
import { config } from '../config';
import { href } from '../router';
import { t } from '../strings';
import { Dialog } from './Dialog';

const withNext = (path: string) => href(`${path}?next=${encodeURIComponent(location.pathname + location.search)}`);

/** Returns the URL of the sign-in page, which redirects back to this page. */
export const signInURL = () => withNext('/login');

/** Returns the URL of the page to create an account, which redirects back to this page. */
export const signUpURL = () => withNext('/signup');

/** A link to sign in again in another tab after the session has ended, so that this page keeps its input. */
export const SignInAgain = () => <a class="button" href={href('/login')} target="_blank">{t.signInAgain}</a>;

/** Links to sign in and, if everyone can, to create an account. */
export const SignInLinks = () => (
  <div class="actions">
    {config.registration && <a class="button" href={signUpURL()}>{t.signUp}</a>}
    <a class="button primary" href={signInURL()}>{t.signIn}</a>
  </div>
);

/** A dialog for visitors who must sign in first. */
export function askToSignIn() {
  const place = document.getElementById('overlay')!;
  const close = () => render(null, place);
  render(
    <Dialog title={t.signIn} onClose={close}>
      <p>{t.signInFirst}</p>
      <SignInLinks />
    </Dialog>,
    place,
  );
}
