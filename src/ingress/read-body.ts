import { isUtf8 } from 'node:buffer';
import express, { type Request, type Response } from 'express';
import { isInteger, isSafeNumber, LosslessNumber, parse as parseLossless } from 'lossless-json';
import { refuse } from '../platform/refusal.ts';
import { excessOf } from './json-shape.ts';

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;
// A number literal of more than 15 digits, or with an exponent that may leave the range of a double. What stands before a
// number keeps the digits of ids out: `4e377…` in a text is none. A text that matches all the same is read carefully too.
const MAYBE_INEXACT = /[[:,\s]-?(?:\d[\d.]{15}|[\d.]{1,15}[eE][+-]?\d{3})/;

// Metadata of some records takes texts only, so that a number beneath these keys has to be told from one.
const OF_TEXTS = new Set(['metadata', 'transaction_metadata']);

type Reader = (request: Request, response: Response, next: (error?: unknown) => void) => void;
const readers = new Map<number, Reader>();

/**
 * The JSON value of a request's body; undefined when there is none. Numbers keep the decimal value that was written: a
 * literal that a double cannot hold comes out as text, or as a LosslessNumber where `keepLiterals` is set and in metadata.
 *
 * @throws Refusal 400 malformed JSON, 413 too large or too many values, 415 another content type, 422 a number beyond a double
 */
export async function readBody(
  request: Request,
  response: Response,
  options: { limitBytes: number; keepLiterals?: boolean },
): Promise<unknown> {
  const text = await readText(request, response, options.limitBytes);
  if (text === undefined || text === '') return undefined;
  const type = request.headers['content-type'];
  if (type !== undefined && !JSON_TYPE.test(type)) throw refuse.unsupportedMediaType();
  return parseBody(text, options.keepLiterals ?? false);
}

async function readText(request: Request, response: Response, limitBytes: number): Promise<string | undefined> {
  let reader = readers.get(limitBytes);
  if (!reader) {
    reader = express.text({ type: () => true, limit: limitBytes, verify: refuseBrokenText }) as Reader;
    readers.set(limitBytes, reader);
  }
  const error = await new Promise<unknown>((resolve) => reader(request, response, resolve));
  if (error) throw refusalOfReader(error);
  return typeof request.body === 'string' ? request.body : undefined;
}

// Decoding would put the same sign for all broken bytes, and so make one record of two.
function refuseBrokenText(_request: unknown, _response: unknown, body: Buffer, encoding: string): void {
  if (encoding === 'utf-8' && !isUtf8(body)) throw new Error('not UTF-8');
}

function refusalOfReader(error: unknown): unknown {
  const { type } = error as { type?: string };
  if (type === 'entity.too.large') return refuse.tooLarge();
  if (type === 'charset.unsupported' || type === 'encoding.unsupported') return refuse.unsupportedMediaType();
  if (type !== undefined || (error as { status?: number }).status === 400) return refuse.badRequest('invalid JSON');
  return error;
}

/**
 * Value of a JSON text; see readBody.
 *
 * @throws Refusal 400 what is no JSON or nests too deeply, 413 too many values, 422 a number beyond a double
 */
export function parseBody(text: string, keepLiterals: boolean): unknown {
  const excess = excessOf(text);
  if (excess !== undefined) throw excess === 'depth' ? refuse.badRequest('invalid JSON') : refuse.tooLarge();
  try {
    const value: unknown = JSON.parse(text);
    if (!MAYBE_INEXACT.test(text)) return value;
    return settleLiterals(
      parseLossless(text, null, {
        parseNumber: (literal) => new LosslessNumber(literal),
        onDuplicateKey: ({ newValue }) => newValue,
      }),
      keepLiterals,
      [],
    );
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof LiteralError) {
      throw error instanceof LiteralError
        ? refuse.invalid({ [error.field]: ['invalid_format'] })
        : refuse.badRequest('invalid JSON');
    }
    throw error;
  }
}

class LiteralError extends Error {
  readonly field: string;

  constructor(field: string) {
    super(`number beyond a double at ${field}`);
    this.field = field;
  }
}

function settleLiterals(value: unknown, keep: boolean, path: string[]): unknown {
  if (value instanceof LosslessNumber) {
    const literal = value.value;
    if (!Number.isFinite(Number(literal))) throw new LiteralError(path.slice(1).join('.') || 'base');
    if (isSafeNumber(literal) && (!isInteger(literal) || Number.isSafeInteger(Number(literal)))) return Number(literal);
    return keep || path.some((key) => OF_TEXTS.has(key)) ? value : literal;
  }
  if (Array.isArray(value)) return value.map((each, index) => settleLiterals(each, keep, [...path, String(index)]));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, settleLiterals(inner, keep, [...path, key])]),
    );
  }
  return value;
}
