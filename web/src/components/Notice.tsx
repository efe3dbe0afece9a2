import type { ComponentChildren } from 'preact';
import { config, me } from '../config';
import type { Failure } from '../graphql';
import { href } from '../router';
import { t } from '../strings';
import { useTitle } from '../title';
import { Icon } from './Icon';
import { SignInLinks, signInURL } from './SignInDialog';
import { explain } from './Toast';

/** A notice in place of content that could not be loaded. */
export function ErrorNotice({ error, retry }: { error: Failure; retry: () => void }) {
  const missing = error.code === 'NOT_FOUND' || error.code === 'BAD_USER_INPUT';
  if (missing) return <NotFound />;
  const forbidden = error.code === 'FORBIDDEN';
  if (forbidden && (me || config.anonymousRead)) return <NotAvailable />;
  const mustSignIn = error.code === 'UNAUTHENTICATED' || forbidden;
  return (
    <div class="notice" role="alert">
      <Icon name={mustSignIn ? 'lock' : 'warning'} />
      <p>{mustSignIn && !me && !config.anonymousRead ? t.privateSite : explain(error)}</p>
      {mustSignIn ? <a class="button primary" href={signInURL()}>{t.signIn}</a> : <button type="button" class="button" onClick={retry}>{t.tryAgain}</button>}
    </div>
  );
}

export function NotFound() {
  useTitle(t.notFound);
  return (
    <div class="notice">
      <Icon name="search" />
      <h1>{t.notFound}</h1>
      <p>{t.notFoundText}</p>
      <a class="button" href={href('/')}>{t.homePage}</a>
    </div>
  );
}

/** A notice in place of a draft or of a thing that was taken down. Only its owner and moderators can see it. */
function NotAvailable() {
  useTitle(t.unavailable);
  return (
    <div class="notice">
      <Icon name="lock" />
      <h1>{t.unavailable}</h1>
      <p>{t.unavailableText}</p>
      <a class="button" href={href('/')}>{t.homePage}</a>
    </div>
  );
}

export function Empty({ text, hint, children }: { text?: string; hint?: string; children?: ComponentChildren }) {
  return (
    <div class="notice">
      <Icon name="cube" />
      <p>{text ?? t.nothing}</p>
      {hint && <p class="quiet">{hint}</p>}
      {children}
    </div>
  );
}

/** A notice on pages that require signing in. */
export function MustSignIn() {
  useTitle(t.signIn);
  return (
    <div class="notice">
      <Icon name="lock" />
      <h1>{t.signIn}</h1>
      <p>{t.signInFirst}</p>
      <SignInLinks />
    </div>
  );
}
