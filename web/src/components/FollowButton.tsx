import { me } from '../config';
import { mutate, useShared } from '../cache';
import { followUser, unfollowUser } from '../generated';
import { t } from '../strings';
import { askToSignIn } from './SignInDialog';
import { say } from './Toast';

export function FollowButton({ person }: { person: { username: string; isFollowed: boolean } }) {
  const [followed, setFollowed] = useShared(`follow ${person.username}`, person.isFollowed);
  const text = followed ? t.following : t.follow;
  const toggle = async () => {
    if (!me) return askToSignIn();
    setFollowed(!followed);
    try {
      await mutate(followed ? unfollowUser : followUser, { input: { username: person.username } });
    } catch (error) {
      setFollowed(followed);
      say(error);
    }
  };
  return (
    <button type="button" class={followed ? 'button follow' : 'button primary follow'} aria-pressed={followed} onClick={toggle} aria-label={`${text}: ${person.username}`}>
      {text}
    </button>
  );
}
