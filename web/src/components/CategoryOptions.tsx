import type { NewThingDefaultsData } from '../generated';
import { t } from '../strings';
import { initially } from './Field';

/** The options of a <select> for a category. */
export function CategoryOptions({ categories, chosen }: { categories: NonNullable<NewThingDefaultsData['categories']>; chosen?: string }) {
  return (
    <>
      {categories.map((root) => (
        <optgroup key={root.slug} label={t.categoryName(root)}>
          {[root, ...root.children].map((one) => <option key={one.slug} value={one.slug} {...initially(one.slug === chosen)}>{t.categoryName(one)}</option>)}
        </optgroup>
      ))}
    </>
  );
}
