import { z } from 'zod';
import { UNIT_CODE } from '../../engine/e-documents/rules/code-lists.ts';
import { UNITS } from '../../engine/e-documents/rules/long-code-lists.ts';
import { FORMAT, INVALID } from '../../platform/schema/fields.ts';
import { clearable } from '../../platform/schema/typed-text.ts';

const CODE_MAX = 3;

/** Code of a unit for electronic documents, after UN/ECE recommendation 20: `HUR` is an hour, `E34` a gigabyte. */
export const unitCode = () =>
  clearable(
    z
      .string(INVALID)
      .max(CODE_MAX, FORMAT)
      .refine((code) => UNIT_CODE.test(code), { error: FORMAT, abort: true })
      .refine((code) => UNITS.has(code), INVALID),
  );
