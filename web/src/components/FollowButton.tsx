import { me } from '../config';
import { mutate, useShared } from '../cache';
import { followUser, unfollowUser } from '../generated';
import { t } from '../strings';
import { store } from '../submission';
import { askToSignIn } from './SignInDialog';
import { say } from './Toast';

export function FollowButton({ person }: { person: { username: string; isFollowed: boolean } }) {
  const key = `follow ${person.username}`;
  const [followed, setFollowed] = useShared(key, person.isFollowed);
  const text = followed ? t.following : t.follow;
  const toggle = () => {
    if (!me) return askToSignIn();
    store(key, followed, !followed, setFollowed, (to) => mutate(to ? followUser : unfollowUser, { input: { username: person.username } })).catch(say);
  };
  return (
    <button type="button" class={followed ? 'button on follow' : 'button primary follow'} onClick={toggle} aria-label={`${text}: ${person.username}`}>
      {text}
    </button>
  );
}
