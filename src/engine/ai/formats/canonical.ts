import { KINDS } from '../kinds.ts';
import { FIRST, type Format } from './format.ts';

/** Parts as they are. */
export const canonical: Format = {
  code: 'canonical',
  version: 1,
  from: FIRST,
  provider: null,
  marks: [],
  usage: [''],
  stream: [],
  names: {},
  variants: [{ fields: KINDS.map((kind) => ({ path: [kind], kind })) }],
  also: [],
};
