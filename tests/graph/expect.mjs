// What a picture must have, by the rows of the tree alone: a slow and plain second telling of the
// rules in src/core/shape.rs.

/**
 * Gives the nodes in order, each with the rows in it and the number of the node above.
 * `all` and `shown` are rows of `tree --format jsonl`, the second in the view that is drawn.
 */
export function nodes(all, shown, isFolded) {
  const parents = new Map(all.map((row) => [row.id, row.parentId]));
  const rows = new Map(shown.map((row) => [row.id, row]));
  const nearest = (id) => {
    while (id !== null && !rows.has(id)) id = parents.get(id);
    return id;
  };
  const above = new Map(shown.map((row) => [row.id, nearest(row.parentId)]));
  const children = new Map();
  for (const id of above.values()) children.set(id, (children.get(id) ?? 0) + 1);
  const leaf = nearest(all.find((row) => row.leaf)?.id ?? null);
  const standsAlone = (row) =>
    children.get(row.id) !== 1 || row.label !== undefined || row.id === leaf ||
    (!isFolded && (above.get(row.id) === null || ["compaction", "branch_summary"].includes(row.type)));

  const found = [];
  const nodeOf = new Map();
  for (const row of shown) {
    const parent = above.get(row.id);
    const before = rows.get(parent);
    const joins = before && !standsAlone(row) && !standsAlone(before);
    if (joins) found[nodeOf.get(parent)].rows.push(row);
    else found.push({ rows: [row], above: parent === null ? undefined : nodeOf.get(parent) });
    nodeOf.set(row.id, joins ? nodeOf.get(parent) : found.length - 1);
  }
  return found;
}
