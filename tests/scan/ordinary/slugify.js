// Makes slugs of titles.
const slugify = (title) =>
  title
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
["Crème Brûlée!", "  Hello,   World  "].map(slugify);
