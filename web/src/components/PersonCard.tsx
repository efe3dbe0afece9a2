import type { Person } from '../generated';
import { href } from '../router';
import { t } from '../strings';
import { Avatar } from './Avatar';
import { FollowButton } from './FollowButton';

export function PersonCard({ person }: { person: Person }) {
  const name = `${person.firstName} ${person.lastName}`.trim();
  return (
    <article class="card person">
      <Avatar user={person} size="medium" />
      <div class="person-text">
        <h3><a class="stretched" href={href(`/${person.username}`)}>{person.username}</a></h3>
        {name && <p>{name}</p>}
        <p class="quiet">{t.thingsCount(person.thingCount)} · {t.followersCount(person.followerCount)}</p>
      </div>
      {!person.isViewer && <FollowButton person={person} />}
    </article>
  );
}
