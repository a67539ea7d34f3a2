import { z } from 'zod';

/** An id in a payload of our own; its type says of what: `idOf<CustomerId>()`. */
export const idOf = <Id extends string = string>() => z.guid() as unknown as z.ZodType<Id, Id>;
