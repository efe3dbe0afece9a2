import type { Cover as Image } from '../generated';
import { classOf, sources } from '../pictures';
import { t } from '../strings';
import { Icon } from './Icon';

const atTop = 4; // pictures that a phone shows without scrolling

type Props = { image: Image | null; at?: number; sensitive?: boolean };

/** The picture of a card. Its space is reserved until it is loaded. at is the index of the card on the page; the first ones may be visible without scrolling. */
export function Cover({ image, at = atTop, sensitive = false }: Props) {
  return (
    <div class={sensitive ? 'cover sensitive' : 'cover'}>
      {image?.large && image.small
        ? <img class={classOf(image)} loading={at < atTop ? 'eager' : 'lazy'} {...(at === 0 && { fetchpriority: 'high' })} sizes="(max-width: 560px) calc(50vw - 1.4rem), 20rem" {...sources(image.large, image.small)} alt="" decoding="async" />
        : <span class="no-picture"><Icon name="cube" /><span class="unseen">{t.noPicture}</span></span>}
      {sensitive && <span class="veil">{t.sensitive}</span>}
    </div>
  );
}
