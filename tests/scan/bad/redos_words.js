// expect: js-slow-regex
const re = new RegExp("^(\\w+\\s?)*$");
re.test("some words that never end properly!");
