import { z } from 'zod';
import type { Context } from './context.ts';
import { countedPageQuery, PageMeta } from './lists/pagination.ts';
import type { Operation } from './operation.ts';

interface Crud<Create extends z.ZodType, Update extends z.ZodType, View extends z.ZodType, Query extends z.ZodType> {
  /** Path segment, tag and root key of the list, if it is not the name with an s. */
  plural?: string;
  /** Words for one record and for a list in summaries of operations: `a tax`, `all taxes`. */
  words: { one: string; listed: string };
  schemas: { create: Create; update: Update; view: View; query?: Query };
  run: {
    create: (ctx: Context, input: { body: z.output<Create> }) => Promise<object>;
    list: (ctx: Context, input: { query: z.output<Query> }) => Promise<object>;
    show: (ctx: Context, input: { code: string }) => Promise<object>;
    update: (ctx: Context, input: { code: string; body: z.output<Update> }) => Promise<object>;
    destroy: (ctx: Context, input: { code: string }) => Promise<object>;
  };
}

const PageQuery = z.object(countedPageQuery);

/**
 * The usual operations of a catalogue noun whose records have a code: create, list, show, update with its PATCH twin,
 * and destroy. `name` is the permission and the root key; `tax` makes `createTax` at `POST /taxes` and so on.
 */
export function crud<
  Create extends z.ZodType,
  Update extends z.ZodType,
  View extends z.ZodType,
  Query extends z.ZodType = typeof PageQuery,
>(name: string, { plural = `${name}s`, words, schemas, run }: Crud<Create, Update, View, Query>): Operation[] {
  const { one, many } = { one: inCamelCase(name), many: inCamelCase(plural) };
  const all = { permission: name, tag: plural, answer: z.object({ [name]: schemas.view }) };
  const list = z.object({ [plural]: z.array(schemas.view), meta: PageMeta });
  const path = `/${plural}/:code`;
  const create: Operation = {
    ...all,
    name: `create${one}`,
    method: 'post',
    path: `/${plural}`,
    summary: `Create ${words.one}`,
    description: 'Its `code` is the name in later requests; one that another record has is refused with 422.',
    root: name,
    body: schemas.create,
    kind: 'command',
    run: run.create,
  };
  const update: Operation = {
    ...create,
    name: `update${one}`,
    method: 'put',
    path,
    summary: `Update ${words.one}`,
    description: 'Fields that are left out keep their values.',
    body: schemas.update,
    run: run.update,
  };
  return [
    create,
    {
      ...all,
      name: `findAll${many}`,
      method: 'get',
      path: `/${plural}`,
      summary: `List ${words.listed}`,
      query: schemas.query ?? PageQuery,
      answer: list,
      kind: 'read',
      run: run.list,
    },
    { ...all, name: `find${one}`, method: 'get', path, summary: `Retrieve ${words.one}`, kind: 'read', run: run.show },
    update,
    { ...update, name: `patch${one}`, method: 'patch', hidden: true },
    {
      ...all,
      name: `destroy${one}`,
      method: 'delete',
      path,
      summary: `Delete ${words.one}`,
      kind: 'command',
      run: run.destroy,
    },
  ];
}

const inCamelCase = (name: string): string =>
  name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
