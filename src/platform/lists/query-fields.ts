import { z } from 'zod';
import type { Operation } from '../operation.ts';

/** Fields of a query by name; for a query that is rewritten as a whole, those that clients send. */
export function queryFields(operation: Operation): Record<string, z.ZodType> | undefined {
  let schema: unknown = operation.query;
  while (schema instanceof z.ZodPipe) schema = schema.in;
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : undefined;
}
