import { me } from '../config';
import { mutate, useShared } from '../cache';
import { compact } from '../format';
import { likeMake, likeThing, unlikeMake, unlikeThing } from '../generated';
import { t } from '../strings';
import { store } from '../submission';
import { Icon } from './Icon';
import { say } from './Toast';
import { askToSignIn } from './SignInDialog';

type Props = { kind: 'thing' | 'make'; id: string; name: string; liked: boolean; likes: number; disabled?: boolean; large?: boolean };

/** A button to like a thing or a make, with the number of likes. The page shows the change immediately and reverts it if the request fails. */
export function LikeButton({ kind, id, name, liked, likes, disabled, large }: Props) {
  const key = `like ${kind} ${id}`;
  const [state, setState] = useShared(key, { liked, likes });
  const toggle = () => {
    if (!me) return askToSignIn();
    const to = { liked: !state.liked, likes: state.likes + (state.liked ? -1 : 1) };
    store(key, state, to, setState, ({ liked }) => (kind === 'thing'
      ? mutate(liked ? likeThing : unlikeThing, { input: { id } })
      : mutate(liked ? likeMake : unlikeMake, { input: { id } }))).catch(say);
  };
  const number = <span aria-hidden="true">{compact(state.likes)}</span>;
  if (disabled && !large) return <span class="count"><Icon name="heart" /><span class="unseen">{t.likes(state.likes)}</span>{number}</span>;
  return (
    <button type="button" class={large ? 'button like' : 'count like'} aria-pressed={state.liked} disabled={disabled} onClick={toggle}
      aria-label={`${t.like} ${compact(state.likes)}: ${name}`}>
      <Icon name="heart" filled={state.liked} />
      {large && <span>{t.like}</span>}{' '}
      {number}
    </button>
  );
}
