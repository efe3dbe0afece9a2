import { mutate, type Growing } from '../cache';
import type { EditedThing } from '../edited';
import { deleteImage, reorderImages, type Picture } from '../generated';
import { classOf, coverOf } from '../pictures';
import { t } from '../strings';
import { More } from './Grid';
import { Icon } from './Icon';

/** The pictures of a thing in their order. The first one that can be shown is the cover. */
export function PictureManager({ thing, pictures, change }: { thing: EditedThing; pictures: Growing<Picture>; change: (action: () => Promise<unknown>) => void }) {
  if (thing.images.length === 0) return null;
  const cover = coverOf(thing.images);
  return (
    <section class="panel" aria-label={t.pictures}>
      <h2>{t.pictures}</h2>
      <ul class="pictures">
        {thing.images.map((image, index) => (
          <li key={image.id}>
            {image.small ? <img class={classOf(image)} src={image.small.url} alt={t.pictureOf(image.file.name)} width="128" height="128" loading="lazy" /> : <span class="file-icon"><Icon name="image" /></span>}
            {index === cover
              ? <span class="badge">{t.cover}</span>
              : (
                <button type="button" class="button icon-only" title={t.makeCover} aria-label={`${t.makeCover}: ${image.name}`}
                  onClick={() => change(() => mutate(reorderImages, { input: { target: { type: 'THING', id: thing.id }, imageIds: [image.id] } }))}><Icon name="star" /></button>
              )}
            <button type="button" class="button icon-only" title={t.delete} aria-label={`${t.delete}: ${image.name}`}
              onClick={() => confirm(t.deleteFile(image.name)) && change(() => mutate(deleteImage, { input: { id: image.id } }))}><Icon name="trash" /></button>
          </li>
        ))}
      </ul>
      <More list={pictures} still />
    </section>
  );
}
