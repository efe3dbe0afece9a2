import { t } from '../strings';
import { Icon } from './Icon';

type Image = { thumbnail: { url: string; width: number; height: number } | null } | null;

/** The picture of a card. It leaves its place free until it is loaded. eager is for pictures at the top of a page. */
export function Cover({ image, eager = false, sensitive = false }: { image: Image; eager?: boolean; sensitive?: boolean }) {
  const picture = image?.thumbnail;
  return (
    <div class={sensitive ? 'cover sensitive' : 'cover'}>
      {picture
        ? <img src={picture.url} alt="" width={picture.width} height={picture.height} loading={eager ? 'eager' : 'lazy'} decoding="async" />
        : <span class="no-picture"><Icon name="cube" /><span class="unseen">{t.noPicture}</span></span>}
      {sensitive && <span class="veil">{t.sensitive}</span>}
    </div>
  );
}
