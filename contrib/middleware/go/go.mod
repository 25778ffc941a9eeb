// Put the address of your copy here; nothing else names it.
module authz.invalid/middleware

go 1.19
