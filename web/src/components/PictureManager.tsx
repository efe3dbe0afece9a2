import { mutate, type Growing } from '../cache';
import type { EditedThing } from '../edited';
import { changeList } from '../focus';
import { deleteImage, reorderImages, type Picture } from '../generated';
import { t } from '../strings';
import { More } from './Grid';
import { Icon } from './Icon';

/** The pictures of a thing in their order. The first one is the cover. */
export function PictureManager({ thing, pictures, refresh }: { thing: EditedThing; pictures: Growing<Picture>; refresh: () => Promise<void> }) {
  if (thing.images.length === 0) return null;
  const attempt = (action: () => Promise<unknown>) => changeList(() => action().then(refresh));
  return (
    <section class="panel" aria-label={t.pictures}>
      <h2>{t.pictures}</h2>
      <ul class="pictures">
        {thing.images.map((image, index) => (
          <li key={image.id}>
            {image.small ? <img src={image.small.url} alt={t.pictureOf(image.file.name)} width="128" height="128" loading="lazy" /> : <span class="file-icon"><Icon name="image" /></span>}
            {index === 0
              ? <span class="badge">{t.cover}</span>
              : (
                <button type="button" class="button icon-only" title={t.makeCover} aria-label={`${t.makeCover}: ${image.name}`}
                  onClick={() => attempt(() => mutate(reorderImages, { input: { target: { type: 'THING', id: thing.id }, imageIds: [image.id] } }))}><Icon name="star" /></button>
              )}
            <button type="button" class="button icon-only" title={t.delete} aria-label={`${t.delete}: ${image.name}`}
              onClick={() => confirm(t.deleteFile(image.name)) && attempt(() => mutate(deleteImage, { input: { id: image.id } }))}><Icon name="trash" /></button>
          </li>
        ))}
      </ul>
      <More list={pictures} still />
    </section>
  );
}
