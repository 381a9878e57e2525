// A hook for React 18 or later: the records that match a query, as they are now.
//
//   const notes = useRecords(store, () => ({recordType: 'Note', limit: 50}), []);

import {useEffect, useMemo, useSyncExternalStore} from 'react';

/** `makeQuery` is called again when one of `dependencies` is another one, as with useMemo. */
export function useRecords(store, makeQuery, dependencies) {
  const live = useMemo(() => store.live(makeQuery()), [store, ...dependencies]);
  useEffect(() => () => live.close(), [live]);
  return useSyncExternalStore(live.subscribe, () => live.records);
}
