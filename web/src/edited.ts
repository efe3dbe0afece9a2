import type { EditThingData } from './generated';

/** A thing as the page to edit it reads it. */
export type EditedThing = NonNullable<EditThingData['thing']>;
