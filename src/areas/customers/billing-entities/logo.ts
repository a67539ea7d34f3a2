import { z } from 'zod';

const DATA_URI = /^data:image\/(?:png|jpe?g);base64,([A-Za-z0-9+/\s]+={0,2})\s*$/;
const ANY_DATA_URI = /^data:/;
const MAX_BYTES = 800 * 1024;
/** The longest text of a logo: base64 adds a third, lines and header add a little. */
const MAX_CHARACTERS = 1.5 * MAX_BYTES;

/**
 * Logo as a data URI of a PNG or JPEG, at most 800 KiB. It is stored as sent and shown as `logo_url`, which browsers
 * accept as the address of an image. Null or blank removes it. Rule: billing-entities.md,
 * error-bodies.md#codes-by-field.
 */
export const logo = () =>
  z
    .preprocess(
      (value) => (typeof value === 'string' && value.trim() === '' ? null : value),
      z
        .string('invalid_content_type')
        .max(MAX_CHARACTERS, 'invalid_size')
        .refine((text) => DATA_URI.test(text), 'invalid_content_type')
        .refine((text) => !ANY_DATA_URI.test(text) || bytesOf(text) <= MAX_BYTES, 'invalid_size')
        .nullable(),
    )
    .optional();

const bytesOf = (dataUri: string): number => Buffer.byteLength(dataUri.slice(dataUri.indexOf(',') + 1), 'base64');
