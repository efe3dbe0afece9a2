import { useState } from 'preact/hooks';
import type { Growing } from '../cache';
import type { FileRow, Picture } from '../generated';
import { awaited, classOf, coverOf, original, sources } from '../pictures';
import { keys } from '../keys';
import { href } from '../router';
import { t } from '../strings';
import { More } from './Grid';
import { Icon } from './Icon';

type Props = { name: string; pictures: Picture[]; more?: Growing<Picture>; models?: FileRow[]; shown?: string; after?: string; onShow?: (model: string) => void };

/** The URL of the viewer of a model. For a draft it needs the signature of the direct URL of the file; with the key of an unlisted thing, the viewer has a link back to it. */
function viewerURL(file: FileRow): string {
  const query = [file.directUrl?.split('?')[1], keys().slice(1)].filter(Boolean).join('&');
  return href(`/view/${file.id}`) + (query && `?${query}`);
}

/** The pictures of a thing or a make, of which more can be loaded, and the 3D view of the chosen model, which is loaded on demand. after is the ID of the element to which a link skips the pictures. */
export function PictureGallery({ name, pictures, more, models = [], shown = '', after, onShow }: Props) {
  const [chosen, setChosen] = useState(-1);
  const at = chosen < 0 ? coverOf(pictures) : Math.min(chosen, pictures.length - 1);
  const model = models.find((file) => file.id === shown);
  const picture = pictures[at];
  const go = (to: number) => {
    onShow?.('');
    if (to < pictures.length || !more?.hasMore) return setChosen((to + pictures.length) % pictures.length);
    setChosen(to); // it is shown when it is loaded
    more.loadMore();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || pictures.length < 2) return;
    event.preventDefault();
    go(at + step);
  };
  return (
    <section class="gallery" aria-label={t.pictures} onKeyDown={onKeyDown}>
      {pictures.length > 1 && after && <a class="skip" href={`#${after}`}>{t.skipPictures}</a>}
      <div class="stage">
        {model
          ? <iframe src={viewerURL(model)} title={t.viewing3D(model.name)} allow="fullscreen" />
          : picture
            ? <a href={picture.large?.url ?? original(picture)} data-native target="_blank" rel="noreferrer">
                {picture.large && picture.medium
                  ? <img key={picture.id} class={classOf(picture)} {...{ fetchpriority: 'high' }} sizes="(max-width: 899px) calc(100vw - 2rem), (max-width: 1480px) 60vw, 54rem" {...sources(picture.large, picture.medium)} alt={t.pictureOf(name)} />
                  : original(picture)
                    ? <img key={picture.id} src={original(picture)} alt={t.pictureOf(name)} />
                    : <span class="no-picture"><Icon name="image" /><span>{awaited(picture) ? t.processing : t.noPreview}</span></span>}
              </a>
            : <span class="no-picture"><Icon name="cube" /><span>{t.noPicture}</span></span>}
        {!model && pictures.length > 1 && (
          <>
            <button type="button" class="arrow previous" aria-label={t.previous} onClick={() => go(at - 1)}><Icon name="left" /></button>
            <button type="button" class="arrow next" aria-label={t.next} onClick={() => go(at + 1)}><Icon name="right" /></button>
          </>
        )}
      </div>
      {(pictures.length > 1 || models.length > 0) && (
        <div class="strip" role="group" aria-label={t.pictures}>
          {models[0] && (
            <button type="button" class="thumb cube" aria-pressed={model !== undefined} onClick={() => onShow?.(model ? '' : models[0]!.id)}><Icon name="cube" /><span>{t.view3D}</span></button>
          )}
          {pictures.map((one, index) => (
            <button key={one.id} type="button" class="thumb" aria-pressed={!model && index === at} aria-label={t.showPicture(index + 1)} onClick={() => go(index)}>
              {one.small ? <img class={classOf(one)} src={one.small.url} alt="" loading="lazy" width="72" height="72" /> : <Icon name="image" />}
            </button>
          ))}
          {more && <More list={more} still />}
        </div>
      )}
    </section>
  );
}
