import { z } from 'zod';
import { anyValue } from '../../../platform/schema/bounded.ts';
import { integer } from '../../../platform/schema/fields.ts';
import { LINE_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';
import { classOf, RETENTION_CLASS_NAMES, type RetentionClassName } from './retention-classes.ts';

const daysField = (name: RetentionClassName) => {
  const { isFixed, min, max } = classOf(name);
  // Any value of a fixed class is accepted here; the command refuses one that is not the value in force.
  return (
    isFixed ? anyValue({ max: SCALAR_MAX, textMax: LINE_MAX }) : integer({ min, ...(max === undefined ? {} : { max }) })
  ).optional();
};

/** Input of `PUT /retention`: days by class; what is absent stays. Rule: retention.md. */
export const RetentionUpdate = z.object(
  Object.fromEntries(RETENTION_CLASS_NAMES.map((name) => [name, daysField(name)])),
);
export type RetentionUpdate = Partial<Record<RetentionClassName, unknown>>;

/** Days by class; null = for ever. */
export const RetentionView = z.object(
  Object.fromEntries(RETENTION_CLASS_NAMES.map((name) => [name, z.int().nullable()])) as Record<
    RetentionClassName,
    z.ZodNullable<z.ZodInt>
  >,
);
export type RetentionView = z.infer<typeof RetentionView>;

export const RetentionEnvelope = z.object({ retention: RetentionView });
