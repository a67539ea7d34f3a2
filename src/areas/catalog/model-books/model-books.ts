import type { ModelName } from '../../../engine/ai/rating/model-name.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { BookVersion } from './book-version.ts';
import { type ModelBook, readModels } from './read-models.ts';

/** How many prices a process keeps in memory; beyond it the models that were read longest ago go first. */
const MOST_PRICES = 200_000;
/** A model without any price takes room too. */
const ROOM_OF_MODEL = 5;

/** A model of an organization that calls name. */
export interface AskedModel extends ModelName {
  book: BookVersion;
}

/** Books of models as of one moment, by `modelKey`. */
export type Books = ReadonlyMap<string, ModelBook>;

/** Where nothing is rated. */
export const NO_BOOKS: Books = new Map();

export const modelKey = ({ book, provider, model }: AskedModel): string =>
  JSON.stringify([book.organizationId, provider, model]);

/** Prices of models in a process, kept while the versions of their book are the present ones. */
export class ModelBooks {
  readonly #kept = new Map<string, { version: string; book: ModelBook }>();
  #prices = 0;

  /** The books of models; those that are not kept are read in one statement. */
  async of(db: Db, asked: readonly AskedModel[]): Promise<Books> {
    const books = new Map<string, ModelBook>();
    const missing = new Map<string, AskedModel>();
    for (const each of asked) {
      const key = modelKey(each);
      const kept = this.#kept.get(key);
      if (kept?.version === versionOf(each)) books.set(key, kept.book);
      else missing.set(key, each);
    }
    if (missing.size === 0) return books;
    const models = [...missing.values()];
    for (const [index, book] of (await readModels(db, models)).entries()) {
      books.set(modelKey(models[index]!), book);
      this.#keep(models[index]!, book);
    }
    return books;
  }

  #keep(asked: AskedModel, book: ModelBook): void {
    const key = modelKey(asked);
    this.#drop(key);
    this.#kept.set(key, { version: versionOf(asked), book });
    this.#prices += book.size + ROOM_OF_MODEL;
    for (const oldest of this.#kept.keys()) {
      if (this.#prices <= MOST_PRICES) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key);
    if (!kept) return;
    this.#kept.delete(key);
    this.#prices -= kept.book.size + ROOM_OF_MODEL;
  }
}

const versionOf = ({ book: { organization, deployment, settings } }: AskedModel): string =>
  `${organization}.${deployment}.${settings.usesDeployment}`;
