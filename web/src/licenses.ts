// The licenses in plain words: what users may, must and must not do, and the URL of the full text.
import type { License } from './generated';
import { t } from './strings';

type Terms = { url: string; may: string[]; must: string[]; mustNot: string[] };

const creativeCommons = (code: string) => `https://creativecommons.org/licenses/${code}/4.0/`;
const { use, change, noChange, sell, noSell, credit, alike, notice } = t.may;

export const terms: Record<License, Terms> = {
  CC: { url: creativeCommons('by'), may: [use, change, sell], must: [credit], mustNot: [] },
  CC_SA: { url: creativeCommons('by-sa'), may: [use, change, sell], must: [credit, alike], mustNot: [] },
  CC_ND: { url: creativeCommons('by-nd'), may: [use, sell], must: [credit], mustNot: [noChange] },
  CC_NC: { url: creativeCommons('by-nc'), may: [use, change], must: [credit], mustNot: [noSell] },
  CC_NC_SA: { url: creativeCommons('by-nc-sa'), may: [use, change], must: [credit, alike], mustNot: [noSell] },
  CC_NC_ND: { url: creativeCommons('by-nc-nd'), may: [use], must: [credit], mustNot: [noChange, noSell] },
  PD0: { url: 'https://creativecommons.org/publicdomain/zero/1.0/', may: [use, change, sell], must: [], mustNot: [] },
  GPL: { url: 'https://www.gnu.org/licenses/gpl-3.0.html', may: [use, change, sell], must: [alike, notice], mustNot: [] },
  LGPL: { url: 'https://www.gnu.org/licenses/lgpl-3.0.html', may: [use, change, sell], must: [alike, notice], mustNot: [] },
  BSD: { url: 'https://opensource.org/license/bsd-3-clause', may: [use, change, sell], must: [notice], mustNot: [] },
};
