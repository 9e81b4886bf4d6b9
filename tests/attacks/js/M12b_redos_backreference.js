/* expect: status=wall_limit|ok|exception limits: wall_ms=200 */
/* The attacker wants the same where no compiled matcher helps: with references and looking back. */
/(?<=(x+x+)+y)(\1|x)*z/u.test("x".repeat(2000) + "y");
/(.*)*\1{1000}$/.test("ab".repeat(5000));
