// A Svelte store: the records that match a query, as they are now.
//
//   const notes = records(store, {recordType: 'Note', limit: 50});
//   {#each $notes as note} … {/each}

/** The query lives while somebody is subscribed. */
export function records(store, query) {
  return {
    subscribe(run) {
      const live = store.live(query);
      run(live.records);
      const stop = live.subscribe(change => run(change.records));
      return () => {
        stop();
        live.close();
      };
    },
  };
}
