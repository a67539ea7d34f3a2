import { setFilters } from '../../frame/route.ts';
import { t } from '../../texts/en.ts';
import { entityName, useEntity } from './records.ts';

const words = t.mails;

/** Which billing entity is meant, where there are several. */
export function EntityChoice() {
  const { entities, code } = useEntity();
  if (entities.length < 2) return null;
  return (
    <label class="chosen">
      <span>{words.entity}</span>
      <select value={code} onChange={(event) => setFilters({ entity: event.currentTarget.value })}>
        {entities.map((entity) => (
          <option key={entity.code} value={entity.code}>
            {entityName(entity)}
          </option>
        ))}
      </select>
    </label>
  );
}
