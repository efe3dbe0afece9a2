import { me } from '../config';
import type { MakeCard as Data } from '../generated';
import { href } from '../router';
import { Avatar } from './Avatar';
import { Cover } from './Cover';
import { LikeButton } from './LikeButton';

export function MakeCard({ make }: { make: Data }) {
  return (
    <article class="card">
      <Cover image={make.defaultImage} />
      <div class="card-text">
        <h3><a class="stretched" href={href(`/make:${make.id}`)}>{make.name}</a></h3>
        <div class="card-foot">
          <a class="by" href={href(`/${make.creator.username}`)}><Avatar user={make.creator} /><span>{make.creator.username}</span></a>
          <LikeButton kind="make" id={make.id} name={make.name} liked={make.isLiked} likes={make.likeCount} disabled={make.creator.username === me?.username} />
        </div>
      </div>
    </article>
  );
}
